import { isUnknown, t, tokensOf } from '@cinnabar/sdk';
import { Interrupted, pause, type Rules, type RunControl, say, type TaskContext } from '../context.js';
import { SUBJECT } from '../permissions.js';
import { actorOf, isFinal, isWorking, keyOf, readInbox, type Task } from '../task.js';
import { loopReason, markFinished } from './complete-step.js';
import { executeStep } from './execute-step.js';
import { requestStep } from './request-step.js';

/**
 * The loop of one task: it reads the task's state, performs the one action that follows from it, and begins again, until the task ends. All state is in the
 * journal, so the loop continues after a restart.
 * @throws Interrupted, and Superseded when another process has the task
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
    await advance(context, control, task);
  }
}

async function advance(context: TaskContext, control: RunControl, task: Task): Promise<void> {
  const { id } = task;
  const rules = await context.settings.guild(task.actor.guildId).get();
  // A task that waits for a person or a time occupies no slot.
  if (isAsking(task) || task.status === 'waiting_time') return executeStep(context, control, task, rules);
  if (!context.slots.has(id)) return waitForSlot(context, control, task);
  if (!(await mayGoOn(context, control, task))) return;
  if (task.step !== undefined) return executeStep(context, control, task, rules);
  if (task.inbox !== undefined) return void (await context.journal.note(id, readInbox));
  const loop = loopReason(task.circles, rules);
  if (loop !== undefined)
    return markFinished(context, id, 'error', { kind: 'breaker', text: `${loop} ${t('Stopping here.')}` });
  const limit = limitReached(task, rules, context.clock.now());
  if (limit !== undefined) return markFinished(context, id, 'completed', { kind: 'limit', text: limit });
  const warning = task.warned ? undefined : warningOf(task, rules);
  if (warning !== undefined) {
    return say(context, control, task, { key: keyOf(task, 'warning'), kind: 'warning', text: warning }, (draft) => {
      draft.warned = true;
    });
  }
  // Prevents a tight loop of requests to a model that answers fast.
  if (task.stepCount > 0) await pause(context.clock, rules.stepDelayMs, control.interrupted);
  await requestStep(context, control, id, rules);
}

/** Whether a question is open. */
function isAsking({ question, status }: Task): boolean {
  return question?.messageIds !== undefined && question.answer === undefined && status === 'waiting_user';
}

async function waitForSlot({ slots, settings, journal }: TaskContext, control: RunControl, task: Task): Promise<void> {
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

/** Interval in which a working task asks Discord whether its member is still in the guild. */
const FRESH_MS = 60_000;
/** After this time, a missing permission is checked once more before the task ends. */
const DOUBT_MS = 10_000;

/** Whether the task may continue. Pauses it when the plugin is disabled, and ends it when its member has lost the right to it. */
async function mayGoOn(context: TaskContext, control: RunControl, task: Task): Promise<boolean> {
  // Not at every step, because tools check as well.
  const fresh = context.clock.now() - control.askedAt >= FRESH_MS;
  if (fresh) control.askedAt = context.clock.now();
  let permission = await permissionOf(context, task, fresh);
  if (permission.is === 'lost' && !permission.certain) {
    await pause(context.clock, DOUBT_MS, control.interrupted);
    permission = await permissionOf(context, task, true);
  }
  if (permission.is === 'switched-off') {
    await context.journal.move(task.id, 'paused', (draft) => {
      draft.pausedByHost = true;
      draft.pausing = false;
    });
  } else if (permission.is === 'lost') {
    await markFinished(context, task.id, 'cancelled', { kind: 'gone', text: permission.because });
  }
  return permission.is === 'given';
}

type Permission =
  | { readonly is: 'given' }
  | { readonly is: 'switched-off' }
  /** `certain` is `false` when the check itself may have failed. */
  | { readonly is: 'lost'; readonly because: string; readonly certain: boolean };

/**
 * Whether the member may still have the task done there. They may have left, or lost the permission to write.
 * @param fresh whether to ask Discord if they are still in the guild
 */
export async function permissionOf(context: TaskContext, task: Task, fresh: boolean): Promise<Permission> {
  if (fresh && !(await isStillThere(context, task)))
    return { is: 'lost', because: t('The member who asked for this has left.'), certain: true };
  const { reasons, allowed } = await context.access.decide(actorOf(task), SUBJECT);
  if (allowed) return { is: 'given' };
  const denying = reasons.filter((reason) => !reason.allowed);
  if (denying.every(({ rule }) => rule === 'plugin-enabled')) return { is: 'switched-off' };
  const reason = denying.map(({ text }) => text).join('; ');
  return {
    is: 'lost',
    because: t('The member who asked for this may not have it done here any more: {reason}.', { reason }),
    certain: false,
  };
}

/**
 * Asks Discord whether the member is still in the guild: without the privileged intent, Discord does not report members who leave. A failed request counts as
 * yes, since every tool checks again before it runs.
 */
async function isStillThere({ client }: TaskContext, { actor: { guildId, userId } }: Task): Promise<boolean> {
  const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
  if (guild === undefined) return true;
  try {
    await guild.members.fetch({ user: userId, force: true });
    return true;
  } catch (error) {
    return !isUnknown(error);
  }
}

const MINUTE_MS = 60_000;

/** The limit that a task has reached, as a sentence for people; `undefined` below all limits. */
export function limitReached(task: Task, rules: Rules, now: number): string | undefined {
  const limit = limitOf(task, rules, now);
  if (limit === undefined || task.outage === undefined) return limit;
  return `${limit} ${t('The language model could not be reached for the last part of it.')}`;
}

function limitOf(task: Task, rules: Rules, now: number): string | undefined {
  const { stepCount, workedMs, status, changedAt, continuedFrom: from } = task;
  const worked = workedMs + (isWorking(status) ? now - changedAt : 0) - (from?.workedMs ?? 0);
  if (stepCount - (from?.steps ?? 0) >= rules.maxSteps)
    return t('I have reached the maximum number of steps. Stopping here.');
  if (worked >= rules.maxMinutes * MINUTE_MS) {
    return t('I have worked on this for {minutes} minutes, which is the most I may. Stopping here.', {
      minutes: rules.maxMinutes,
    });
  }
  const { tokens, cost } = spentSince(task);
  if (tokens >= rules.maxTokens) {
    return t('I have used {tokens, number} tokens, and {most, number} is the most I may. Stopping here.', {
      tokens,
      most: rules.maxTokens,
    });
  }
  if (cost !== null && cost >= rules.maxUsd) {
    return t('This has cost {cost}, and {most} is the most it may. Stopping here.', {
      cost: `$${cost.toFixed(2)}`,
      most: `$${rules.maxUsd.toFixed(2)}`,
    });
  }
  return undefined;
}

/** Tokens and dollars since the task was last continued. */
function spentSince({ usage, cost, continuedFrom: from }: Task) {
  return { tokens: tokensOf(usage) - (from?.tokens ?? 0), cost: cost === null ? null : cost - (from?.cost ?? 0) };
}

/** A warning before a task runs out of tokens or money. */
function warningOf(task: Task, rules: Rules): string | undefined {
  const { tokens, cost } = spentSince(task);
  if (tokens >= rules.maxTokens * rules.warnAt) {
    return t('⚠️ I have used {tokens, number} of at most {most, number} tokens.', { tokens, most: rules.maxTokens });
  }
  if (cost !== null && rules.maxUsd > 0 && cost >= rules.maxUsd * rules.warnAt) {
    return t('⚠️ This has cost {cost} of at most {most}.', {
      cost: `$${cost.toFixed(2)}`,
      most: `$${rules.maxUsd.toFixed(2)}`,
    });
  }
  return undefined;
}
