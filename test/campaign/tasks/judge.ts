import type { Traces } from './harness.js';
import { SCRIPT } from './script.js';

const REPEATABLE = new Set(['look', 'ring']);

/** Differences between the traces of a disturbed task and those of an undisturbed one, as sentences. Only traces that are marked unknown may differ. */
export function judge(found: Traces, expected: Traces): readonly string[] {
  const wrong: string[] = [];
  const { task } = found;
  const same = (what: string, ours: unknown, theirs: unknown) => {
    if (JSON.stringify(ours) !== JSON.stringify(theirs)) {
      wrong.push(`${what} is ${JSON.stringify(ours)} instead of ${JSON.stringify(theirs)}`);
    }
  };
  same('the status', task.status, expected.task.status);
  same('the number of steps', task.stepCount, SCRIPT.length);
  same('the ending', task.ending?.text, expected.task.ending?.text);
  same('the number of calls', task.log.length, expected.task.log.length);
  const unknown = new Set<string>();
  for (const [index, line] of task.log.entries()) {
    const other = expected.task.log[index];
    if (other === undefined) continue;
    same(`call ${index}`, [line.n, line.tool, line.input], [other.n, other.tool, other.input]);
    if (line.outcome === 'unknown') unknown.add(`${line.tool} ${line.input}`);
    else same(`the result of call ${index}`, [line.outcome, line.result], [other.outcome, other.result]);
  }
  same('the number of unknowns', task.unknowns.length, unknown.size);
  wrong.push(...judgeEffects(found, expected, unknown), ...judgeWords(found, expected));
  return wrong;
}

/** Effects by their cause: exactly once; at most once when the outcome is unknown; any number of times when the effect is idempotent. */
function judgeEffects(found: Traces, expected: Traces, unknown: ReadonlySet<string>): readonly string[] {
  const wrong: string[] = [];
  const nameOf = ({ tool, what }: Traces['effects'][number]) => `${tool} ${JSON.stringify({ what })}`;
  const counted = (traces: Traces, name: string) => traces.effects.filter((effect) => nameOf(effect) === name);
  for (const name of new Set([...expected.effects, ...found.effects].map(nameOf))) {
    const ours = counted(found, name);
    const [tool = ''] = name.split(' ');
    const once = REPEATABLE.has(tool) ? new Set(ours.map(({ key }) => key)).size : ours.length;
    const wanted = counted(expected, name).length;
    if (once === wanted || (unknown.has(name) && once === 0)) continue;
    wrong.push(`${name} took effect ${once} times instead of ${wanted}`);
  }
  return wrong;
}

/** Every message is sent once. Names and figures differ between tasks. */
function judgeWords(found: Traces, expected: Traces): readonly string[] {
  const wrong: string[] = [];
  const plain = (said: readonly string[]) =>
    said.map((content) =>
      content
        .replaceAll(/<@\d+>/g, '@alice')
        .split('\n')
        .filter((line) => !line.startsWith('-#') && !line.startsWith('**Task'))
        .join('\n'),
    );
  const ours = plain(found.said);
  for (const content of new Set(plain(expected.said))) {
    const start = content.split('\n')[0] ?? '';
    const count = ours.filter((one) => one.startsWith(start)).length;
    if (count !== 1) wrong.push(`${JSON.stringify(start)} was said ${count} times`);
  }
  return wrong;
}
