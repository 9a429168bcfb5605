import type { Call, Line, Task } from '../model/task.js';

/** In the place of what a tool returned that may not be shown any more. */
export const NOT_SHOWN = '(What this returned came from a place that may not be read here now, or was deleted there.)';

/** Whether the results of some sources may be shown. */
export type MayShow = (sources: NonNullable<Call['sources']> | undefined) => Promise<boolean>;

/** A task without the results of tools that may not be shown now: for its model, for who looks at its details, and for who exports it. */
export async function shownOf(task: Task, mayShow: MayShow): Promise<Task> {
  const known = new Map<string, Promise<boolean>>();
  const may = (sources: Call['sources']): Promise<boolean> => {
    const key = JSON.stringify(sources ?? null);
    const answer = known.get(key) ?? mayShow(sources);
    known.set(key, answer);
    return answer;
  };
  /** What a control of the task itself says, and why a call failed, came from nowhere else. */
  const isOwn = ({ outcome }: { readonly outcome?: string }) => outcome !== 'done';
  const callOf = async (call: Call): Promise<Call> =>
    isOwn(call) || (await may(call.sources)) ? call : { ...call, result: NOT_SHOWN };
  const lineOf = async (line: Line): Promise<Line> =>
    typeof line === 'string' || (await may(line.sources)) ? line : `${line.text.split('→')[0] ?? ''}→ ${NOT_SHOWN}`;
  const entryOf = async (entry: Task['entries'][number]) =>
    entry.kind === 'note' ? entry : { ...entry, calls: await Promise.all(entry.calls.map(callOf)) };
  const loggedOf = async (logged: Task['log'][number]) =>
    isOwn(logged) || (await may(logged.sources)) ? logged : { ...logged, result: NOT_SHOWN };
  const { step } = task;
  return {
    ...task,
    entries: await Promise.all(task.entries.map(entryOf)),
    scratchpad: await Promise.all(task.scratchpad.map(lineOf)),
    log: await Promise.all(task.log.map(loggedOf)),
    ...(step === undefined ? {} : { step: { ...step, calls: await Promise.all(step.calls.map(callOf)) } }),
  };
}
