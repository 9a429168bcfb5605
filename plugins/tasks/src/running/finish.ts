import type { TaskStatus } from '@cinnabar/sdk';
import type { Ending, Step, Task } from '../model/task.js';
import type { RunParts } from './parts.js';

export type FinalStatus = Extract<TaskStatus, 'completed' | 'cancelled' | 'error'>;

const LONGEST_LOGGED = 600;
const MOST_LOGGED = 300;

/** Writes that the task is over, and why. The channel is told afterwards. @throws Superseded when it was over already */
export async function finish(
  { journal }: Pick<RunParts, 'journal'>,
  id: string,
  status: FinalStatus,
  { kind, text, byUserId }: Pick<Ending, 'kind' | 'text' | 'byUserId'>,
  change?: (draft: Task) => void,
): Promise<void> {
  await journal.move(id, status, (draft) => {
    change?.(draft);
    const by = byUserId === undefined ? {} : { byUserId };
    draft.ending = { kind, text, ...by, halted: haltedIn(draft), told: false };
    draft.pausing = false;
    draft.pausedByHost = false;
  });
}

/** Calls that had been begun when it ended. */
function haltedIn({ step }: Task): string[] {
  return (step?.calls ?? [])
    .filter(({ state, name }) => state === 'begun' && name !== 'task_complete')
    .map(({ name }) => name);
}

/** Keeps what people can look up of a step's calls. */
export function logStep(draft: Task, { n, calls }: Pick<Step, 'n' | 'calls'>): void {
  const lines = calls.map((call) => ({
    n,
    tool: call.name,
    input: cut(JSON.stringify(call.input)),
    outcome: call.outcome ?? (call.state === 'begun' ? 'unknown' : 'not run'),
    result: cut(call.result ?? ''),
    ...(call.sources === undefined ? {} : { sources: call.sources }),
  }));
  draft.log = [...draft.log, ...lines].slice(-MOST_LOGGED);
}

const cut = (text: string) => (text.length <= LONGEST_LOGGED ? text : `${text.slice(0, LONGEST_LOGGED)}…`);
