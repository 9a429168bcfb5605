import { translated } from '@cinnabar/sdk';
import type { Background, Call, Line, Step, Task } from '../task.js';

/** Replaces a tool result that may no longer be shown. */
const NOT_SHOWN = '(What this returned came from a place that may not be read here now, or was deleted there.)';

/** Replaces text that the model wrote after it had seen such a result. */
const WITHHELD = '(withheld: written after something was read that may not be shown here now)';

/** Whether results from these sources may be shown. */
export type MayShow = (sources: NonNullable<Call['sources']> | undefined) => Promise<boolean>;

/** The task for its model, without tool results that may not be shown now. */
export async function redactForModel(task: Task, mayShow: MayShow): Promise<Task> {
  const may = remembered(mayShow);
  const callOf = async (call: Call): Promise<Call> =>
    isOwn(call) || (await may(call.sources)) ? call : { ...call, result: NOT_SHOWN };
  const lineOf = async (line: Line): Promise<Line> =>
    typeof line === 'string' || (await may(line.sources)) ? line : withoutResult(line.text);
  const entryOf = async (entry: Task['entries'][number]): Promise<Task['entries'][number]> => {
    if (entry.kind === 'said') return (await may(entry.sources)) ? entry : { ...entry, text: NOT_SHOWN };
    return entry.kind === 'note' ? entry : { ...entry, calls: await Promise.all(entry.calls.map(callOf)) };
  };
  const loggedOf = async (logged: Task['log'][number]) =>
    isOwn(logged) || (await may(logged.sources)) ? logged : { ...logged, result: NOT_SHOWN };
  const { step, background } = task;
  return {
    ...task,
    ...(background === undefined ? {} : { background: await readable(background, may) }),
    entries: await Promise.all(task.entries.map(entryOf)),
    scratchpad: await Promise.all(task.scratchpad.map(lineOf)),
    log: await Promise.all(task.log.map(loggedOf)),
    ...(step === undefined ? {} : { step: { ...step, calls: await Promise.all(step.calls.map(callOf)) } }),
  };
}

/** The conversation without messages that may no longer be read, or were deleted. */
async function readable(background: Background, may: MayShow): Promise<Background> {
  if (await may(background.lines.flatMap(({ sources }) => sources))) return background;
  const shown = await Promise.all(background.lines.map(async (line) => ((await may(line.sources)) ? [line] : [])));
  return { ...background, lines: shown.flat() };
}

/** A line without a tool's result; a person's words are removed completely. */
function withoutResult(line: string): string {
  const [call, ...result] = line.split('→');
  return result.length === 0 ? NOT_SHOWN : `${call}→ ${NOT_SHOWN}`;
}

/**
 * The task for people who look at its details or export them: text that the model wrote after a withheld result may repeat that result, so it is withheld as
 * well.
 */
export async function redactForPeople(task: Task, mayShow: MayShow): Promise<Task> {
  const may = remembered(mayShow);
  const withheldFrom = await firstWithheld(task, may);
  const shown = await redactForModel(task, may);
  if (withheldFrom === undefined) return shown;
  const withheld = translated(WITHHELD);
  const isAfter = ({ n }: { readonly n: number }) => n > withheldFrom;
  const wordless = (call: Call): Call => ({ ...call, input: {} });
  const stepOf = <T extends Step>(step: T): T =>
    isAfter(step) ? { ...step, text: withheld, calls: step.calls.map(wordless) } : step;
  const { step, question, ending } = shown;
  return {
    ...shown,
    entries: shown.entries.map((entry) => (entry.kind === 'step' ? stepOf(entry) : entry)),
    // A line summarises a step, including the model's text.
    scratchpad: shown.scratchpad.map(() => withheld),
    log: shown.log.map((logged) => (isAfter(logged) ? { ...logged, input: withheld } : logged)),
    ...(step === undefined ? {} : { step: stepOf(step) }),
    ...(question === undefined ? {} : { question: { ...question, text: withheld, choices: [] } }),
    ...(ending === undefined ? {} : { ending: { ...ending, text: withheld } }),
  };
}

/** The first step that contains something that may not be shown; 0 for anything before the first step or compacted. */
async function firstWithheld(task: Task, may: MayShow): Promise<number | undefined> {
  const { background, entries, scratchpad, log, step } = task;
  const steps = [...entries.filter((entry) => entry.kind === 'step'), ...(step === undefined ? [] : [step])];
  const seen = [
    ...(background?.lines ?? []).map(({ sources }) => ({ n: 0, sources })),
    ...entries.flatMap((entry) => (entry.kind === 'said' ? { n: 0, sources: entry.sources } : [])),
    ...scratchpad.flatMap((line) => (typeof line === 'string' ? [] : { n: 0, sources: line.sources })),
    ...log.filter((logged) => !isOwn(logged)),
    ...steps.flatMap(({ n, calls }) =>
      calls.filter((call) => !isOwn(call)).map(({ sources }) => ({ n, ...(sources === undefined ? {} : { sources }) })),
    ),
  ].toSorted((a, b) => a.n - b.n);
  for (const { n, sources } of seen) if (!(await may(sources))) return n;
  return undefined;
}

/** Whether a result has no other source: those of the task's own controls, and failures. */
const isOwn = ({ outcome }: { readonly outcome?: string | undefined }) => outcome !== 'done';

/** Caches the decision about equal sources. */
function remembered(mayShow: MayShow): MayShow {
  const known = new Map<string, Promise<boolean>>();
  return (sources) => {
    const key = JSON.stringify(sources ?? null);
    const answer = known.get(key) ?? mayShow(sources);
    known.set(key, answer);
    return answer;
  };
}
