import { stemmer } from 'stemmer';
import { commonFrom } from '../memory/words.js';

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

/** Words that stay, and how much of the longer text they make up: "Nice to see you, ___! How was your ___?" */
const LEAST_FIXED = 5;
const FIXED = 0.65;
const LONGEST_SLOT = 4;

/** Whether two texts are one sentence with other words in its slots. Where the slots hold nothing but numbers, it is news, not a repetition. */
export function sameTemplate(one: Wording, other: Wording, asked: ReadonlySet<string>): boolean {
  if (one.denies !== other.denies) return false;
  const longest = Math.max(one.words.length, other.words.length);
  if (Math.min(one.words.length, other.words.length) < FIXED * longest || longest < LEAST_FIXED) return false;
  const slots = slotsOf(one.words, other.words);
  const fixed = one.words.length - slots.reduce((sum, slot) => sum + slot.length, 0);
  if (fixed < LEAST_FIXED || fixed < FIXED * longest) return false;
  const filled = slots.flat();
  if (filled.length === 0 || slots.some(({ length }) => length > LONGEST_SLOT)) return false;
  // Who is asked for another thing answers with another thing.
  return !filled.some((word) => asked.has(word)) && filled.some((word) => !/\p{N}/u.test(word));
}

/** The stretches of `one` that are not in `other`, by the longest sequence that both have. */
function slotsOf(one: readonly string[], other: readonly string[]): readonly (readonly string[])[] {
  const at = commonFrom(one, other);
  const slots: string[][] = [];
  let open: string[] | undefined;
  for (let i = 0, j = 0; i < one.length; ) {
    if (j < other.length && one[i] === other[j]) {
      open = undefined;
      i++;
      j++;
    } else if (j < other.length && at(i, j + 1) >= at(i + 1, j)) j++;
    else {
      if (open === undefined) {
        open = [];
        slots.push(open);
      }
      open.push(one[i] ?? '');
      i++;
    }
  }
  return slots;
}

/** Words that say nothing of what a text is about. Negations and numbers are none of them. */
const EMPTY: ReadonlySet<string> = new Set(
  `a about actually after ah all also am an and any are aren as at be because been before being btw but by can could d did didn do does
  doesn doing don done ever for from get gets getting got had has have having he hello hey hi hm hmm i if im in into is isn it its ive just ll
  lol m maybe me more most much my myself now of oh ok okay on or our ours out over quite re really s same she so some still such t than thanks
  how should must might shall him her his hers he she they us one ones which let lets again ever go goes going went say says said tell told
  that the their theirs them then there these they this those to too up us ve very was wasn we well were weren what when where which while who
  whom whose why will with won would wouldn yeah yes you your yours`.split(/\s+/),
);
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const WORD = /[\p{L}\p{N}\p{M}]+(?:[''’][\p{L}]+)*/gu;
const MAX_LENGTH = 4_000;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** The words as they are written, without punctuation; a possessive's `'s` is left out. Text beyond 4,000 characters does not count. */
export function wordsOf(text: string): readonly string[] {
  const clean = text.slice(0, MAX_LENGTH).normalize('NFKC');
  if (!UNSPACED.test(clean)) return (clean.match(WORD) ?? []).map(withoutPossessive);
  return [...segmenter.segment(clean)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}

const withoutPossessive = (word: string) => word.replace(/[''’]s$/iu, '');

/** The same for all forms of an English word; other languages' words mostly stay as they are. */
function termOf(word: string): string {
  const lower = word.toLowerCase().replaceAll(/['’]/g, '');
  return /^[a-z]{3,30}$/.test(lower) ? stemmer(lower) : lower;
}

export const isEmptyWord = (word: string): boolean => EMPTY.has(word.toLowerCase().replaceAll(/['’]/g, ''));

/** What a text is about, word by word, in order. When every word is an empty one, all of them. */
function termsOf(text: string): readonly string[] {
  const words = wordsOf(text);
  const telling = words.filter((word) => !isEmptyWord(word));
  return (telling.length > 0 ? telling : words).map(termOf);
}

const NEGATION =
  /\b(?:not|no|never|none|nothing|cannot|without|stopped|quit|hardly|(?:do|does|did|is|are|was|were|has|have|had|ca|could|wo|would|should|ai)n['’]?t)\b/iu;

/** Whether a text denies something. */
const isDenial = (text: string): boolean => NEGATION.test(text);
