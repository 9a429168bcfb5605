import { oneLine } from '@cinnabar/sdk';
import type { Entry, Line, Task } from '../model/task.js';

type Memory = Pick<Task, 'entries' | 'scratchpad'>;

/** About so many characters make a token, for the languages that models are asked in. */
const CHARACTERS_PER_TOKEN = 4;
/** Steps that are kept whole whatever they weigh. */
const KEPT_STEPS = 2;
const LINE_LENGTH = 300;
const MOST_LINES = 200;
const MOST_NOTES = 50;
/** No other line begins like this. */
const NOTE = 'Note: ';

export function estimateTokens(entries: readonly Entry[]): number {
  return Math.ceil(entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0) / CHARACTERS_PER_TOKEN);
}

/**
 * Leaves the oldest steps behind as a line each, down to half of what is allowed, so that it happens seldom and a provider's cache lasts. The
 * goal and the unknowns are not in there: they are always told in full; so is the step that is under way, with its open question.
 */
export function compact({ entries, scratchpad }: Memory, mostTokens: number): Memory {
  if (estimateTokens(entries) <= mostTokens) return { entries, scratchpad };
  let left = entries;
  const lines = [...scratchpad];
  while (left.length > KEPT_STEPS && estimateTokens(left) > mostTokens / 2) {
    const [oldest, ...rest] = left;
    if (oldest === undefined) break;
    lines.push(...linesOf(oldest));
    left = rest;
  }
  return { entries: left, scratchpad: bounded(lines) };
}

function linesOf(entry: Entry): readonly Line[] {
  if (entry.kind === 'note') return [];
  if (entry.kind === 'said') {
    return [{ text: `${NOTE}${oneLine(entry.name)} said: ${oneLine(entry.text)}`, sources: entry.sources }];
  }
  const said = entry.text === '' ? [] : [cut(`Step ${entry.n}: you said: ${oneLine(entry.text)}`)];
  const called = entry.calls.map(({ name, input, outcome, result = '', sources }): Line => {
    if (name === 'take_note' && outcome === 'told') return `${NOTE}${oneLine(String(input.note))}`;
    const text = cut(
      `Step ${entry.n}: ${name}(${JSON.stringify(input)}) → ${outcome ?? 'nothing'}: ${oneLine(result)}`,
    );
    return sources === undefined ? text : { text, sources };
  });
  return [...said, ...called];
}

/** Notes stay; of the other lines the first tell how it began, and the latest matter. */
function bounded(lines: readonly Line[]): Line[] {
  const isNote = (line: Line) => textOf(line).startsWith(NOTE);
  const [notes, others] = [lines.filter(isNote).slice(-MOST_NOTES), lines.filter((line) => !isNote(line))];
  if (others.length <= MOST_LINES) return [...notes, ...others];
  const kept = MOST_LINES / 2;
  return [...notes, ...others.slice(0, kept), `(${others.length - 2 * kept} lines left out)`, ...others.slice(-kept)];
}

export const textOf = (line: Line) => (typeof line === 'string' ? line : line.text);

const cut = (text: string) => (text.length <= LINE_LENGTH ? text : `${text.slice(0, LINE_LENGTH)}…`);
