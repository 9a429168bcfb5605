import type { Memory, Person } from './types.js';

/** Scripts that put no space between words. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');
const RUN = new RegExp(`[${UNSPACED}ー々\\p{M}]+|[^${UNSPACED}ー々]+`, 'gu');
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Accents of Latin, Greek and Cyrillic letters; the vowel signs of other scripts are none of these. */
const ACCENTS = /[\u0300-\u036f]/gu;

/** Letters that words of alphabets, and of scripts without spaces, are compared by. */
const GRAM = 4;
const UNSPACED_GRAM = 2;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** A text as it is compared: without case, accents and compatibility forms. */
export function folded(text: string): string {
  // By way of the upper case, ß becomes ss.
  return text.normalize('NFKD').replaceAll(ACCENTS, '').normalize('NFC').toUpperCase().toLowerCase();
}

/** The words of a text, folded, in any language. */
export function wordsOf(text: string): readonly string[] {
  return runsOf(text).flatMap((run) => (IS_UNSPACED.test(run) ? segmentsOf(run) : run));
}

/**
 * What a text is found by: its words, and the groups of letters in them. The groups match inflected and compound words of any language without
 * a stemmer, and a long word counts more than a short one, because it has more of them.
 */
export function termsOf(text: string): readonly string[] {
  return runsOf(text).flatMap((run) =>
    IS_UNSPACED.test(run)
      ? [...segmentsOf(run).map((word) => `=${word}`), ...groupsOf(run, UNSPACED_GRAM)]
      : [`=${run}`, ...groupsOf(`_${run}_`, GRAM)],
  );
}

const runsOf = (text: string): readonly string[] =>
  (folded(text).match(WORD) ?? []).flatMap((word) => (IS_UNSPACED.test(word) ? (word.match(RUN) ?? []) : word));

const segmentsOf = (run: string): readonly string[] =>
  [...segmenter.segment(run)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);

function groupsOf(word: string, size: number): readonly string[] {
  if (word.length <= size) return [word];
  return Array.from({ length: word.length - size + 1 }, (_, at) => word.slice(at, at + size));
}

/** By so many letters a word may be longer or shorter in another case: Anna, Annas, Анна, Анны. */
const ENDING = 2;
const LEAST_STEM = 3;

/** Whether a word may be another form of a name. */
export function isForm(word: string, name: string): boolean {
  if (name.length < LEAST_STEM || Math.abs(word.length - name.length) > ENDING) return false;
  return word.startsWith(name.slice(0, Math.max(LEAST_STEM, name.length - 1)));
}

/** How long the longest sequence is that the texts have in common from the i-th word of one and the j-th of the other on. */
export function commonFrom(one: readonly string[], other: readonly string[]): (i: number, j: number) => number {
  const width = other.length + 1;
  const lengths = new Uint16Array((one.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      lengths[i * width + j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return at;
}

const MENTION = /<@!?(\d{1,20})>/gu;
/** People by the words of their names. */
export class People {
  readonly #byWord = new Map<string, Set<string>>();

  static of(people: readonly Person[]): People {
    const all = new People();
    for (const { userId, names } of people) for (const name of names) all.add(userId, name);
    return all;
  }

  add(userId: string, name: string): void {
    for (const word of wordsOf(name)) {
      const known = this.#byWord.get(word);
      if (known === undefined) this.#byWord.set(word, new Set([userId]));
      else known.add(userId);
    }
  }

  addFrom({ subject, subjectName, speaker, speakerName }: Memory): void {
    if (subjectName !== null) this.add(subject, subjectName);
    if (speakerName !== null) this.add(speaker, speakerName);
  }

  remove(userId: string): void {
    for (const [word, people] of this.#byWord)
      if (people.delete(userId) && people.size === 0) this.#byWord.delete(word);
  }

  /** Those with this word in a name. */
  called(word: string): Iterable<string> {
    return this.#byWord.get(word) ?? [];
  }

  /** Those with a word in a name of which this may be another form. */
  nearly(word: string): readonly string[] {
    return [...this.#byWord].flatMap(([known, people]) => (isForm(word, known) ? [...people] : []));
  }
}

/** The ids of those whom a text mentions or calls by a name, in any form of it: exact names go before others. */
export function namedIn(text: string, ...directories: readonly People[]): ReadonlySet<string> {
  const named = exactlyNamedIn(text, ...directories);
  const others = wordsIn(text).filter((word) => directories.every((people) => [...people.called(word)].length === 0));
  return new Set([...named, ...others.flatMap((word) => directories.flatMap((people) => people.nearly(word)))]);
}

/** The ids of those whom a text mentions or calls by a name as it is written. */
export function exactlyNamedIn(text: string, ...directories: readonly People[]): ReadonlySet<string> {
  const mentioned = [...text.matchAll(MENTION)].flatMap(([, userId]) => userId ?? []);
  const called = wordsIn(text).flatMap((word) => directories.flatMap((people) => [...people.called(word)]));
  return new Set([...mentioned, ...called]);
}

const wordsIn = (text: string): readonly string[] => [...new Set(wordsOf(text.replaceAll(MENTION, ' ')))];
