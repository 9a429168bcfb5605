import { stemmer } from 'stemmer';

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
export function termOf(word: string): string {
  const lower = word.toLowerCase().replaceAll(/['’]/g, '');
  return /^[a-z]{3,30}$/.test(lower) ? stemmer(lower) : lower;
}

export const isEmptyWord = (word: string): boolean => EMPTY.has(word.toLowerCase().replaceAll(/['’]/g, ''));

/** What a text is about, word by word, in order. When every word is an empty one, all of them. */
export function termsOf(text: string): readonly string[] {
  const words = wordsOf(text);
  const telling = words.filter((word) => !isEmptyWord(word));
  return (telling.length > 0 ? telling : words).map(termOf);
}

const NEGATION =
  /\b(?:not|no|never|none|nothing|cannot|without|stopped|quit|hardly|(?:do|does|did|is|are|was|were|has|have|had|ca|could|wo|would|should|ai)n['’]?t)\b/iu;

/** Whether a text denies something. */
export const isDenial = (text: string): boolean => NEGATION.test(text);
