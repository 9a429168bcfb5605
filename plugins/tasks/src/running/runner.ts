import { brokenBy } from '../breakers/breakers.js';
import { hearInbox } from '../model/new-task.js';
import { isFinal } from '../model/status.js';
import { keyOf, type Task } from '../model/task.js';
import { type Rules, rulesIn } from '../settings.js';
import { advance } from './advance.js';
import { Interrupted, type RunControl } from './control.js';
import { finish } from './finish.js';
import { limitReached, warningOf } from './limits.js';
import { mayGoOn } from './may-go-on.js';
import { outageNote } from './outage.js';
import type { RunParts } from './parts.js';
import { pause } from './pause.js';
import { say } from './say.js';
import { think } from './think.js';

/**
 * The loop of one task: it reads how the task stands, does the one thing that follows from it, and begins again, until it is over. All that it
 * knows is written, so it goes on from there after a restart. @throws Interrupted, Superseded when the task is somebody else's to go on with
 */
export async function runTask(parts: RunParts, control: RunControl, id: string): Promise<void> {
  for (;;) {
    if (control.interrupted.aborted) throw new Interrupted();
    const task = parts.journal.peek(id);
    if (task === undefined || isFinal(task.status) || task.status === 'paused') return;
    if (task.pausing) {
      await parts.journal.move(id, 'paused', (draft) => {
        draft.pausing = false;
      });
      return;
    }
    await stride(parts, control, task);
  }
}

async function stride(parts: RunParts, control: RunControl, task: Task): Promise<void> {
  const { id } = task;
  const rules = await rulesIn(parts.settings, task.actor.guildId);
  // Who waits for a person or for a time needs no room.
  if (isAsking(task) || task.status === 'waiting_time') return advance(parts, control, task, rules);
  if (!parts.slots.has(id)) return findRoom(parts, control, task);
  if (!(await mayGoOn(parts, control, task))) return;
  if (task.step !== undefined) return advance(parts, control, task, rules);
  if (task.inbox !== undefined) return void (await parts.journal.note(id, hearInbox));
  const broken = brokenBy(task.circles, rules);
  if (broken !== undefined) return finish(parts, id, 'error', { kind: 'breaker', text: `${broken} Stopping here.` });
  const limit = limitReached(task, rules, parts.clock.now());
  if (limit !== undefined)
    return finish(parts, id, 'completed', { kind: 'limit', text: `${limit}${outageNote(task)}` });
  const warning = task.warned ? undefined : warningOf(task, rules);
  if (warning !== undefined) {
    return say(parts, control, task, { key: keyOf(task, 'warning'), kind: 'warning', text: warning }, (draft) => {
      draft.warned = true;
    });
  }
  await nextStep(parts, control, task, rules);
}

/** A question that was asked and has no answer yet. */
function isAsking({ question, status }: Task): boolean {
  return question?.messageIds !== undefined && question.answer === undefined && status === 'waiting_user';
}

async function findRoom({ slots, settings, journal }: RunParts, control: RunControl, task: Task): Promise<void> {
  const { id, actor } = task;
  const bounds = async () => {
    const { perMember, perGuild } = await rulesIn(settings, actor.guildId);
    return { perMember, perGuild, total: (await settings.global.get()).maxRunning };
  };
  if (task.status !== 'queued') await journal.move(id, 'queued');
  const found = await slots.acquire({ id, userId: actor.userId, guildId: actor.guildId }, bounds, control.interrupted);
  if (!found) throw new Interrupted();
  await journal.move(id, 'running');
}

/** Not at once: a model that answers fast must not be asked without end. */
async function nextStep(parts: RunParts, control: RunControl, { id, stepCount }: Task, rules: Rules): Promise<void> {
  if (stepCount > 0) await pause(parts.clock, rules.stepDelayMs, control.interrupted);
  await think(parts, control, id, rules);
}
