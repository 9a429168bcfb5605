import { distance } from 'fastest-levenshtein';

/** Words that carry little: they may be left out, or stand where the example has none. */
const SMALL = new Set(['a', 'the', 'is', 'he']);
/** What people put around a request. */
const FILLERS = new Set(
  (
    'please pls plz kindly thanks thank thx you could can would will want wanna need like id i d ll ve let lets us me tell ' +
    'hey hi hello yo ok okay well so now just also then and to go ahead maybe quickly bot'
  ).split(' '),
);
const POLITE_ENDS = new Set('please pls plz kindly thanks thank you thx hey hi hello yo ok okay'.split(' '));
const LONGEST_COMPARED = 40;

export const COST = { smallWord: 0.15, filler: 0.05, typo: 0.4, missingBreak: 0.5 } as const;

export function isSmall(form: string): boolean {
  return SMALL.has(form);
}

export function isPoliteEnd(form: string): boolean {
  return POLITE_ENDS.has(form);
}

/** What it costs that a word of the example was not said. */
export function costOfMissing(form: string): number {
  return SMALL.has(form) ? COST.smallWord : Number.POSITIVE_INFINITY;
}

/** What it costs that a word was said which the example has no place for. */
export function costOfExtra(form: string): number {
  if (FILLERS.has(form)) return COST.filler;
  return SMALL.has(form) ? COST.smallWord : Number.POSITIVE_INFINITY;
}

/** What it costs that one word was said for another: nothing, a typo's worth, or too much. */
export function costOfSaying(said: string, expected: string): number {
  if (said === expected) return 0;
  return isTypo(said, expected) ? COST.typo : Number.POSITIVE_INFINITY;
}

/** The shorter a word, the more likely is another word next to it. */
function isTypo(said: string, expected: string): boolean {
  const difference = Math.abs(said.length - expected.length);
  const allowed = expected.length >= 8 ? 2 : expected.length >= 3 ? 1 : 0;
  if (said.length > LONGEST_COMPARED || difference > allowed) return false;
  // Of three letters one may be missing or doubled, but none may be another.
  if (expected.length === 3 && difference === 0) return false;
  return distance(said, expected) <= allowed;
}

/** How much tolerance an example of that many words deserves. */
export function limitFor(literals: number): number {
  return Math.min(1.2, 0.1 + 0.3 * literals);
}
