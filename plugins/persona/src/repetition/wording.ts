import { isDenial, termsOf, wordsOf } from './words.js';

/** A text as far as repetition goes. Beyond 150 words nothing is looked at. */
export interface Wording {
  readonly text: string;
  readonly words: readonly string[];
  readonly terms: ReadonlySet<string>;
  readonly numbers: string;
  readonly denies: boolean;
}

const MAX_TEXT = 2_000;
const MAX_WORDS = 150;

export function wordingOf(text: string): Wording {
  const clean = text.slice(0, MAX_TEXT);
  const words = wordsOf(clean.toLowerCase()).slice(0, MAX_WORDS);
  return {
    text: clean,
    words,
    terms: new Set(termsOf(words.join(' '))),
    numbers: words.filter((word) => /\p{N}/u.test(word)).join(' '),
    denies: isDenial(clean),
  };
}

export const saysExactly = (one: Wording, other: Wording): boolean =>
  one.words.length > 0 &&
  one.words.length === other.words.length &&
  one.words.every((word, at) => word === other.words[at]);

const LEAST_TERMS = 4;
const SAME_TERMS = 0.75;

/** Whether both are about the same words, whatever the order and whatever fills the gaps. Different numbers and denials make a difference. */
export function paraphrases(one: Wording, other: Wording): boolean {
  if (one.denies !== other.denies || one.numbers !== other.numbers) return false;
  return Math.min(one.terms.size, other.terms.size) >= LEAST_TERMS && likeness(one.terms, other.terms) >= SAME_TERMS;
}

/** The share of words in common; 0 for two texts without any. */
export function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const term of one) if (other.has(term)) common++;
  const all = one.size + other.size - common;
  return all === 0 ? 0 : common / all;
}
