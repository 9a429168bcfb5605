import { Superseded } from '../journal/journal.js';
import type { Rules } from '../settings.js';
import { isFinal, isWorking, pingedIn, type Task } from '../task.js';
import { leaveOf } from './permissions.js';
import { outageNote } from './request-step.js';
import type { TaskContext } from './run-control.js';
import { limitReached } from './run-task.js';
import { type Ends, resumeTask, type WorkerPool } from './worker-pool.js';

export const WATCHDOG_MS = 10_000;
const HOUR_MS = 3_600_000;
const ASKED = '⏰ This task still waits for the answer to its question above.';
const TO_APPROVE = '⏰ This task still waits for your decision above. `confirm pending` lists all that wait for you.';
/** So often Discord is asked whether those for whom tasks wait are still there. */
const FRESH_MS = 300_000;

export interface WatchdogParts extends TaskContext {
  readonly workers: WorkerPool;
  readonly ends: Ends;
}

/** Looks after tasks that nothing else moves. */
export function createWatchdog(context: WatchdogParts): () => Promise<void> {
  let freshAt = context.clock.now();
  const doubted = new Set<string>();
  return async () => {
    const fresh = context.clock.now() - freshAt >= FRESH_MS;
    if (fresh) freshAt = context.clock.now();
    for (const id of doubted) if (context.journal.peek(id) === undefined) doubted.delete(id);
    for (const task of context.journal.live()) {
      if (isFinal(task.status)) continue;
      await lookAfter(context, task, fresh, doubted).catch((error: unknown) => {
        if (!(error instanceof Superseded))
          context.log.warn('a task could not be looked after', { taskId: task.id, error });
      });
    }
  };
}

/**
 * Those that wait for people who have gone or have to be reminded, those that the host has paused, and those whose time runs out in the middle
 * of a tool, a request to the model, or a pause.
 */
async function lookAfter(context: WatchdogParts, task: Task, fresh: boolean, doubted: Set<string>): Promise<void> {
  const { ends, settings, clock } = context;
  const { id, status, actor, pausedByHost } = task;
  const leave = await leaveOf(context, task, fresh);
  const doubtful = leave.is === 'gone' && !leave.certain && !doubted.has(id);
  doubted.delete(id);
  // It is looked for once more, next time.
  if (doubtful) return void doubted.add(id);
  if (leave.is === 'gone') return ends.end(id, 'cancelled', { kind: 'gone', text: leave.because });
  if (leave.is === 'given' && pausedByHost) return resumeTask(context, id);
  const rules = await settings.guild(actor.guildId).get();
  await remind(context, task, rules);
  if (!isWorking(status)) return;
  const limit = limitReached({ ...task, stepCount: task.continuedFrom?.steps ?? 0 }, rules, clock.now());
  if (limit === undefined) return;
  const text = `${limit}${outageNote(task)}`;
  await ends.end(id, status === 'tool_executing' ? 'cancelled' : 'completed', { kind: 'limit', text });
}

/** A member is reminded once of what waits for them: when half of the time for an approval has passed. */
async function remind(context: WatchdogParts, task: Task, rules: Rules): Promise<void> {
  const { id, status, stepCount, waitsSince, reminded } = task;
  if (status !== 'waiting_approval' && status !== 'waiting_user') return;
  if (waitsSince === undefined || reminded === true) return;
  if (context.clock.now() - waitsSince < (rules.approvalHours * HOUR_MS) / 2) return;
  // Written first: at most one reminder, whatever happens in between.
  await context.journal.note(id, (draft) => {
    draft.reminded = true;
  });
  const isQuestion = status === 'waiting_user';
  const key = `reminder:${stepCount}`;
  await context.speaker.say(
    task,
    { key, kind: 'warning', text: isQuestion ? ASKED : TO_APPROVE, mention: pingedIn(task, rules) },
    { recognise: false, signal: context.signal },
  );
  await context.notices.direct(task, rules, key, isQuestion ? 'question' : 'approval');
}
