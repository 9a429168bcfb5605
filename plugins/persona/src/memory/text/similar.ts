import { isDenial, termsOf, wordsOf } from './words.js';

/** A text as far as it matters for whether another says the same. */
export interface Gist {
  /** The words alone. */
  readonly exact: string;
  readonly terms: ReadonlySet<string>;
  readonly numbers: string;
  readonly denies: boolean;
}

/** Share of words that two must have in common, one saying nothing that the other does not. */
const SAME = 0.75;

export function gistOf(text: string): Gist {
  const words = wordsOf(text.toLowerCase());
  return {
    exact: words.join(' '),
    terms: new Set(termsOf(text)),
    numbers: words.filter((word) => /\p{N}/u.test(word)).join(' '),
    denies: isDenial(text),
  };
}

/**
 * Whether two texts say the same, but for words that add little. A word in place of another always makes a difference: that is what an update
 * looks like.
 */
export function saysTheSame(one: Gist, other: Gist): boolean {
  if (one.exact === other.exact) return one.exact !== '';
  if (one.denies !== other.denies || one.numbers !== other.numbers) return false;
  const [small, large] = one.terms.size <= other.terms.size ? [one.terms, other.terms] : [other.terms, one.terms];
  if (small.size === 0 || small.size < SAME * large.size) return false;
  for (const term of small) if (!large.has(term)) return false;
  return true;
}
