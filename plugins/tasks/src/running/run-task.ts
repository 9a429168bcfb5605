import { tokensOf } from '@cinnabar/sdk';
import type { Rules } from '../settings.js';
import { hearInbox, isFinal, isWorking, keyOf, type Task } from '../task.js';
import { markFinished } from './complete-step.js';
import { executeStep } from './execute-step.js';
import { brokenBy } from './loop-detector.js';
import { mayGoOn } from './permissions.js';
import { outageNote, requestStep } from './request-step.js';
import { Interrupted, pause, type RunControl, type TaskContext } from './run-control.js';
import { say } from './speech.js';

/**
 * The loop of one task: it reads how the task stands, does the one thing that follows from it, and begins again, until it is over. All that it
 * knows is written, so it goes on from there after a restart. @throws Interrupted, Superseded when the task is somebody else's to go on with
 */
export async function runTask(context: TaskContext, control: RunControl, id: string): Promise<void> {
  for (;;) {
    if (control.interrupted.aborted) throw new Interrupted();
    const task = context.journal.peek(id);
    if (task === undefined || isFinal(task.status) || task.status === 'paused') return;
    if (task.pausing) {
      await context.journal.move(id, 'paused', (draft) => {
        draft.pausing = false;
      });
      return;
    }
    await stride(context, control, task);
  }
}

async function stride(context: TaskContext, control: RunControl, task: Task): Promise<void> {
  const { id } = task;
  const rules = await context.settings.guild(task.actor.guildId).get();
  // Who waits for a person or for a time needs no room.
  if (isAsking(task) || task.status === 'waiting_time') return executeStep(context, control, task, rules);
  if (!context.slots.has(id)) return findRoom(context, control, task);
  if (!(await mayGoOn(context, control, task))) return;
  if (task.step !== undefined) return executeStep(context, control, task, rules);
  if (task.inbox !== undefined) return void (await context.journal.note(id, hearInbox));
  const broken = brokenBy(task.circles, rules);
  if (broken !== undefined)
    return markFinished(context, id, 'error', { kind: 'breaker', text: `${broken} Stopping here.` });
  const limit = limitReached(task, rules, context.clock.now());
  if (limit !== undefined)
    return markFinished(context, id, 'completed', { kind: 'limit', text: `${limit}${outageNote(task)}` });
  const warning = task.warned ? undefined : warningOf(task, rules);
  if (warning !== undefined) {
    return say(context, control, task, { key: keyOf(task, 'warning'), kind: 'warning', text: warning }, (draft) => {
      draft.warned = true;
    });
  }
  await nextStep(context, control, task, rules);
}

/** A question that was asked and has no answer yet. */
function isAsking({ question, status }: Task): boolean {
  return question?.messageIds !== undefined && question.answer === undefined && status === 'waiting_user';
}

async function findRoom({ slots, settings, journal }: TaskContext, control: RunControl, task: Task): Promise<void> {
  const { id, actor } = task;
  const bounds = async () => {
    const { perMember, perGuild } = await settings.guild(actor.guildId).get();
    return { perMember, perGuild, total: (await settings.global.get()).maxRunning };
  };
  if (task.status !== 'queued') await journal.move(id, 'queued');
  const found = await slots.acquire({ id, userId: actor.userId, guildId: actor.guildId }, bounds, control.interrupted);
  if (!found) throw new Interrupted();
  await journal.move(id, 'running');
}

/** Not at once: a model that answers fast must not be asked without end. */
async function nextStep(
  context: TaskContext,
  control: RunControl,
  { id, stepCount }: Task,
  rules: Rules,
): Promise<void> {
  if (stepCount > 0) await pause(context.clock, rules.stepDelayMs, control.interrupted);
  await requestStep(context, control, id, rules);
}

type Spent = Pick<Task, 'stepCount' | 'workedMs' | 'usage' | 'cost' | 'status' | 'changedAt' | 'continuedFrom'>;

const MINUTE_MS = 60_000;

/** Which limit a task has reached, in words for people; `undefined` while it has room. */
export function limitReached(task: Spent, rules: Rules, now: number): string | undefined {
  const { stepCount, workedMs, status, changedAt, continuedFrom: from } = task;
  const worked = workedMs + (isWorking(status) ? now - changedAt : 0) - (from?.workedMs ?? 0);
  if (stepCount - (from?.steps ?? 0) >= rules.maxSteps)
    return 'I have reached the maximum number of steps. Stopping here.';
  if (worked >= rules.maxMinutes * MINUTE_MS) {
    return `I have worked on this for ${rules.maxMinutes} minutes, which is the most I may. Stopping here.`;
  }
  const { tokens, cost } = spentSince(task);
  if (tokens >= rules.maxTokens) {
    return `I have used ${tokens.toLocaleString('en-US')} tokens, and ${rules.maxTokens.toLocaleString('en-US')} is the most I may. Stopping here.`;
  }
  if (cost !== null && cost >= rules.maxUsd) {
    return `This has cost $${cost.toFixed(2)}, and $${rules.maxUsd.toFixed(2)} is the most it may. Stopping here.`;
  }
  return undefined;
}

/** Since it was last continued. */
function spentSince({ usage, cost, continuedFrom: from }: Pick<Task, 'usage' | 'cost' | 'continuedFrom'>) {
  return { tokens: tokensOf(usage) - (from?.tokens ?? 0), cost: cost === null ? null : cost - (from?.cost ?? 0) };
}

/** A warning before a task runs out of tokens or money. */
function warningOf(task: Pick<Task, 'usage' | 'cost' | 'continuedFrom'>, rules: Rules): string | undefined {
  const { tokens, cost } = spentSince(task);
  if (tokens >= rules.maxTokens * rules.warnAt) {
    return `⚠️ I have used ${tokens.toLocaleString('en-US')} of at most ${rules.maxTokens.toLocaleString('en-US')} tokens.`;
  }
  if (cost !== null && rules.maxUsd > 0 && cost >= rules.maxUsd * rules.warnAt) {
    return `⚠️ This has cost $${cost.toFixed(2)} of at most $${rules.maxUsd.toFixed(2)}.`;
  }
  return undefined;
}
