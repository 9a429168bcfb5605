import type { Block } from './markdown.js';

/** A line of a page. */
export interface Line {
  readonly line: number;
  readonly text: string;
}

/** A typed line, and the output after it. */
export interface Step {
  readonly line: number;
  /** `undefined` for output before the first typed line. */
  readonly typed: string | undefined;
  readonly printed: readonly string[];
}

/** `!help`, `/help`, `@alice: hello`; all other typed lines begin with `> `. */
const TYPED = /^(?:> (.+)|([!/][\p{L}\p{N}].*)|(@[\p{L}\p{N}_.-]+: .*))$/u;

export function stepsOf({ line, text }: Block): readonly Step[] {
  const steps: { line: number; typed: string | undefined; printed: string[] }[] = [];
  text.split('\n').forEach((each, index) => {
    const [, behindSign, command, ofMember] = TYPED.exec(each) ?? [];
    const typed = behindSign ?? command ?? ofMember;
    if (typed !== undefined) steps.push({ line: line + index + 1, typed, printed: [] });
    else if (steps.length === 0) steps.push({ line: line + index, typed: undefined, printed: [each] });
    else steps.at(-1)?.printed.push(each);
  });
  return steps;
}

/** Values that differ between runs, with their replacement for comparison. */
const LOOSE: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?: UTC|Z)?/g, '(time)'],
  [/\b\d{4}-\d\d-\d\d\b/g, '(day)'],
  [/\b\d\d:\d\d UTC\b/g, '(time)'],
  [/\b\d{17,20}\b/g, '(id)'],
  [/\b\d+ ms\b/g, '(duration)'],
  // The clock of the tests does not move.
  [/\bin 0s\b|\b\d+(?:ms|s) ago\b/g, '(a moment ago)'],
  [/🎲 \d+/gu, '🎲 (number)'],
  [/\[file (\S+), \d+ bytes\]/g, '[file $1]'],
];

const comparable = (line: string) =>
  LOOSE.reduce((text, [pattern, instead]) => text.replace(pattern, instead), line).trimEnd();
const isGap = (line: string) => line.trim() === '…';

interface Difference {
  /** Line after the typed one, counted from 1; 0 for the typed line. */
  readonly at: number;
  readonly text: string;
}

/**
 * The first difference between a page and the output; `undefined` if there is none.
 * @param said lines; one of `…` matches any number of lines
 */
export function differenceOf(said: readonly string[], printed: readonly string[]): Difference | undefined {
  const wanted = said.map(comparable);
  const really = printed.map(comparable);
  // The positions in the output after each line of the page, for every way to fill the gaps.
  let open = new Set([0]);
  for (const [index, line] of wanted.entries()) {
    const next = new Set<number>();
    for (const from of open) {
      if (!isGap(line)) {
        if (really[from] === line) next.add(from + 1);
        continue;
      }
      for (let to = from; to <= really.length; to += 1) next.add(to);
    }
    if (next.size === 0)
      return {
        at: index + 1,
        text: `This is not printed: “${said[index]}”. Mend the page, or write … where lines are left out.`,
      };
    open = next;
  }
  return open.has(really.length)
    ? undefined
    : { at: said.length, text: 'More is printed than the page says: write it, or a line of … for it.' };
}
