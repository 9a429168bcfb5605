import { distance } from 'fastest-levenshtein';
import type { Word } from './words.js';

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

const COST = { smallWord: 0.15, filler: 0.05, typo: 0.4 } as const;

export function isSmall(form: string): boolean {
  return SMALL.has(form);
}

/** Whether an example says something by that word. */
export function isTelling(form: string): boolean {
  return !SMALL.has(form) && !FILLERS.has(form);
}

export function isPoliteEnd(form: string): boolean {
  return POLITE_ENDS.has(form);
}

/** What it costs that a word of the example was not said. */
export function costOfMissing({ form, separates }: { readonly form: string; readonly separates: boolean }): number {
  return SMALL.has(form) && !separates ? COST.smallWord : Number.POSITIVE_INFINITY;
}

/** What it costs that a word was said which the example has no place for. "Will" in the middle of a sentence is a name. */
export function costOfExtra({ form, name, operator }: Word): number {
  if (operator || (name && !POLITE_ENDS.has(form))) return Number.POSITIVE_INFINITY;
  if (FILLERS.has(form)) return COST.filler;
  return SMALL.has(form) ? COST.smallWord : Number.POSITIVE_INFINITY;
}

/** What it costs that one word was said for another: nothing, a typo's worth, or too much. Another number or name is no typo. */
export function costOfSaying({ form: said, name, operator }: Word, expected: string): number {
  if (operator) return Number.POSITIVE_INFINITY;
  if (said === expected) return 0;
  return !name && !/\d/.test(said + expected) && isTypo(said, expected) ? COST.typo : Number.POSITIVE_INFINITY;
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
