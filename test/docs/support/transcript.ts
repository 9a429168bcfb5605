import type { Block } from './markdown.js';

/** A line of a page. */
export interface Line {
  readonly line: number;
  readonly text: string;
}

/** Something that is typed, and what is printed after it. */
export interface Step {
  readonly line: number;
  /** `undefined` for what is printed before anything is typed. */
  readonly typed: string | undefined;
  readonly printed: readonly string[];
}

/** `!help`, `/help`, `@alice: hello`; anything else that is typed stands behind `> `. */
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

/** What is another each time, with what stands for it when lines are compared. */
const LOOSE: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?: UTC|Z)?/g, '(time)'],
  [/\b\d{4}-\d\d-\d\d\b/g, '(day)'],
  [/\b\d\d:\d\d UTC\b/g, '(time)'],
  [/\b\d{17,20}\b/g, '(id)'],
  [/\b\d+ ms\b/g, '(duration)'],
  // The clock of the tests stands still.
  [/\bin 0s\b|\b\d+(?:ms|s) ago\b/g, '(a moment ago)'],
  [/🎲 \d+/gu, '🎲 (number)'],
  [/\[file (\S+), \d+ bytes\]/g, '[file $1]'],
];

const comparable = (line: string) =>
  LOOSE.reduce((text, [pattern, instead]) => text.replace(pattern, instead), line).trimEnd();
const isGap = (line: string) => line.trim() === '…';

interface Difference {
  /** Which line after the one that is typed, counted from 1; 0 for that one. */
  readonly at: number;
  readonly text: string;
}

/**
 * Where what a page says differs from what is printed; `undefined` where it does not.
 * @param said lines; one of `…` stands for any lines, or none
 */
export function differenceOf(said: readonly string[], printed: readonly string[]): Difference | undefined {
  const wanted = said.map(comparable);
  const really = printed.map(comparable);
  // The lines that are left to be found after each line of the page, for every way in which the gaps can be filled.
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
