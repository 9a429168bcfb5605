import { Superseded } from '../journal/journal.js';
import { isFinal } from '../model/status.js';
import type { Task } from '../model/task.js';
import { rulesIn } from '../settings.js';
import type { Crew } from './crew.js';
import type { Ends } from './end.js';
import { limitReached } from './limits.js';
import { leaveOf } from './may-go-on.js';
import type { RunParts } from './parts.js';
import { resumeTask } from './resume.js';

export const SWEEP_MS = 10_000;
/** So often Discord is asked whether those for whom tasks wait are still there. */
const FRESH_MS = 300_000;

export interface SweepParts extends RunParts {
  readonly crew: Crew;
  readonly ends: Ends;
}

/** Looks after tasks that nothing else moves. */
export function createSweep(parts: SweepParts): () => Promise<void> {
  let freshAt = parts.clock.now();
  const doubted = new Set<string>();
  return async () => {
    const fresh = parts.clock.now() - freshAt >= FRESH_MS;
    if (fresh) freshAt = parts.clock.now();
    for (const id of doubted) if (parts.journal.peek(id) === undefined) doubted.delete(id);
    for (const task of parts.journal.live()) {
      if (isFinal(task.status)) continue;
      await lookAfter(parts, task, fresh, doubted).catch((error: unknown) => {
        if (!(error instanceof Superseded))
          parts.log.warn('a task could not be looked after', { taskId: task.id, error });
      });
    }
  };
}

/** Those that wait for people who have gone, those that the host has paused, and those whose time runs out in the middle of a tool. */
async function lookAfter(parts: SweepParts, task: Task, fresh: boolean, doubted: Set<string>): Promise<void> {
  const { ends, settings, clock } = parts;
  const { id, status, actor, pausedByHost } = task;
  const leave = await leaveOf(parts, task, fresh);
  const doubtful = leave.is === 'gone' && !leave.certain && !doubted.has(id);
  doubted.delete(id);
  // It is looked for once more, next time.
  if (doubtful) return void doubted.add(id);
  if (leave.is === 'gone') return ends.end(id, 'cancelled', { kind: 'gone', text: leave.because });
  if (leave.is === 'given' && pausedByHost) return resumeTask(parts, id);
  if (status !== 'tool_executing') return;
  const limit = limitReached({ ...task, stepCount: 0 }, await rulesIn(settings, actor.guildId), clock.now());
  if (limit !== undefined) await ends.end(id, 'cancelled', { kind: 'limit', text: limit });
}
