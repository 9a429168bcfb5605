import { t } from '@cinnabar/sdk';
import type { TaskContext } from '../context.js';
import { Superseded } from '../journal/journal.js';
import type { Rules } from '../settings.js';
import { isFinal, isWorking, pingedIn, type Task } from '../task.js';
import { limitReached, permissionOf } from './run-task.js';
import type { WorkerPool } from './worker-pool.js';

export const WATCHDOG_MS = 10_000;
const HOUR_MS = 3_600_000;
/** How often Discord is asked whether those for whom tasks wait are still in the guild. */
const FRESH_MS = 300_000;

/**
 * Looks after tasks that nothing else moves: those whose member has left or has to be reminded, those that the host has paused, and those whose
 * time runs out in the middle of a tool, a request to the model, or a pause.
 */
export function createWatchdog(context: TaskContext, workers: WorkerPool): () => Promise<void> {
  const { journal, languages, settings, clock, log } = context;
  let freshAt = clock.now();
  const doubted = new Set<string>();

  const check = async (task: Task, fresh: boolean): Promise<void> => {
    const { id, status, actor, pausedByHost } = task;
    const permission = await permissionOf(context, task, fresh);
    const doubtful = permission.is === 'lost' && !permission.certain && !doubted.has(id);
    doubted.delete(id);
    // Checked once more, next time.
    if (doubtful) return void doubted.add(id);
    if (permission.is === 'lost') return workers.end(id, 'cancelled', { kind: 'gone', text: permission.because });
    if (permission.is === 'given' && pausedByHost) return workers.resume(id);
    const rules = await settings.guild(actor.guildId).get();
    await remind(context, task, rules);
    if (!isWorking(status)) return;
    // The step under way may end: steps are counted between two of them.
    const limit = limitReached({ ...task, stepCount: task.continuedFrom?.steps ?? 0 }, rules, clock.now());
    if (limit === undefined) return;
    await workers.end(id, status === 'tool_executing' ? 'cancelled' : 'completed', { kind: 'limit', text: limit });
  };

  return async () => {
    const fresh = clock.now() - freshAt >= FRESH_MS;
    if (fresh) freshAt = clock.now();
    for (const id of doubted) if (journal.peek(id) === undefined) doubted.delete(id);
    for (const task of journal.live()) {
      if (isFinal(task.status)) continue;
      await languages
        .speak(task.actor, () => check(task, fresh))
        .catch((error: unknown) => {
          if (!(error instanceof Superseded)) log.warn('a task could not be looked after', { taskId: task.id, error });
        });
    }
  };
}

/** Reminds a member once of what waits for them: when half of the time for an approval has passed. */
async function remind(context: TaskContext, task: Task, rules: Rules): Promise<void> {
  const { id, status, stepCount, waitsSince, reminded } = task;
  if (status !== 'waiting_approval' && status !== 'waiting_user') return;
  if (waitsSince === undefined || reminded === true) return;
  if (context.clock.now() - waitsSince < (rules.approvalHours * HOUR_MS) / 2) return;
  // Written first: at most one reminder, also after a crash.
  await context.journal.note(id, (draft) => {
    draft.reminded = true;
  });
  const isQuestion = status === 'waiting_user';
  const text = isQuestion
    ? t('⏰ This task still waits for the answer to its question above.')
    : t('⏰ This task still waits for your decision above. `confirm pending` lists all that wait for you.');
  const key = `reminder:${stepCount}`;
  await context.speaker.say(
    task,
    { key, kind: 'warning', text, mention: pingedIn(task, rules) },
    { recognise: false, signal: context.signal },
  );
  await context.speaker.notify(task, rules, key, isQuestion ? 'question' : 'approval');
}
