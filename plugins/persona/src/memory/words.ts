import { once } from '@cinnabar/sdk';
import type { Memory, Person } from './types.js';

/** Scripts that write no spaces between words. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');
const RUN = new RegExp(`[${UNSPACED}ー々\\p{M}]+|[^${UNSPACED}ー々]+`, 'gu');
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Accents of Latin, Greek and Cyrillic letters; vowel signs of other scripts have other code points. */
const ACCENTS = /[\u0300-\u036f]/gu;

/** Length of the groups of letters that words are compared by. */
const GRAM = 4;
const UNSPACED_GRAM = 2;

/** Created at the first use, because it loads the Unicode rules. */
let segmenter: Intl.Segmenter | undefined;

/** The form of a text for comparisons: without case, accents and compatibility forms. */
export function folded(text: string): string {
  // `toUpperCase` turns ß into SS.
  return text.normalize('NFKD').replaceAll(ACCENTS, '').normalize('NFC').toUpperCase().toLowerCase();
}

/** The words of a text, folded, in any language. */
export function wordsOf(text: string): readonly string[] {
  return runsOf(text).flatMap((run) => (IS_UNSPACED.test(run) ? segmentsOf(run) : run));
}

/**
 * The search terms of a text: its words, and groups of letters in them. The groups match inflected and compound words of any language without a stemmer, and a
 * long word counts more than a short one, because it has more of them.
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

function segmentsOf(run: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' });
  return [...segmenter.segment(run)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}

function groupsOf(word: string, size: number): readonly string[] {
  if (word.length <= size) return [word];
  return Array.from({ length: word.length - size + 1 }, (_, at) => word.slice(at, at + size));
}

/** Maximum difference in length between a name and its inflected form: Anna, Annas, Анна, Анны. */
const ENDING = 2;
const LEAST_STEM = 3;

/** Whether a word may be another form of a name. */
function isForm(word: string, name: string): boolean {
  if (name.length < LEAST_STEM || Math.abs(word.length - name.length) > ENDING) return false;
  return word.startsWith(name.slice(0, Math.max(LEAST_STEM, name.length - 1)));
}

/** A difference between two lists of words: the range in one, and the words of the other instead. */
interface Difference {
  readonly mine: readonly [from: number, to: number];
  readonly theirs: readonly [from: number, to: number];
}

/** The differences, found by the longest common sequence of words. */
export function differencesOf(one: readonly string[], other: readonly string[]): readonly Difference[] {
  const at = commonFrom(one, other);
  const found: Difference[] = [];
  let [fromI, fromJ, i, j] = [0, 0, 0, 0];
  const close = () => {
    if (i > fromI || j > fromJ) found.push({ mine: [fromI, i], theirs: [fromJ, j] });
  };
  while (i < one.length && j < other.length) {
    if (one[i] === other[j]) {
      close();
      [fromI, fromJ] = [++i, ++j];
    } else if (at(i, j + 1) >= at(i + 1, j)) j++;
    else i++;
  }
  [i, j] = [one.length, other.length];
  close();
  return found;
}

/** The length of the longest common sequence of the words from `i` in one and from `j` in the other. */
function commonFrom(one: readonly string[], other: readonly string[]): (i: number, j: number) => number {
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

  /** Ids of people with this word in a name. */
  called(word: string): Iterable<string> {
    return this.#byWord.get(word) ?? [];
  }

  /** Ids of people with a name of which the word may be an inflected form. */
  nearly(word: string): readonly string[] {
    return [...this.#byWord].flatMap(([known, people]) => (isForm(word, known) ? [...people] : []));
  }
}

/** The ids of people whom a text mentions or names, also in inflected forms. A word that equals one person's name does not count for another whose name is similar. */
export function namedIn(text: string, ...directories: readonly People[]): ReadonlySet<string> {
  const named = exactlyNamedIn(text, ...directories);
  const others = wordsIn(text).filter((word) => directories.every((people) => [...people.called(word)].length === 0));
  return new Set([...named, ...others.flatMap((word) => directories.flatMap((people) => people.nearly(word)))]);
}

/** The ids of people whom a text mentions or names exactly. */
export function exactlyNamedIn(text: string, ...directories: readonly People[]): ReadonlySet<string> {
  const mentioned = [...text.matchAll(MENTION)].flatMap(([, userId]) => userId ?? []);
  const called = wordsIn(text).flatMap((word) => directories.flatMap((people) => [...people.called(word)]));
  return new Set([...mentioned, ...called]);
}

const wordsIn = (text: string): readonly string[] => [...new Set(wordsOf(text.replaceAll(MENTION, ' ')))];

/** A span of time that a question names, in ms since the epoch. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Languages whose names of months and relative times are recognised, in the words of ICU. */
const LOCALES =
  'en de fr es it pt nl sv da nb fi is pl cs sk sl hr sr ro hu bg ru uk el tr ca et lv lt he ar fa hi bn id vi th ja ko zh'.split(
    ' ',
  );
const DAY_MS = 86_400_000;
/** Maximum distance in words between a month and its year: "May 8th, 2023", "8 de mayo de 2023". */
const NEAR = 3;
const RELATIVE = [
  ['day', 0],
  ['day', -1],
  ['day', -2],
  ['week', -1],
  ['month', -1],
  ['year', -1],
] as const;
type Unit = (typeof RELATIVE)[number][0];
interface Relative {
  readonly unit: Unit;
  readonly offset: number;
}

/** Whether a time (ms since the epoch) is within one that the text names; `undefined` if it names none. Days are in UTC. */
export function timesIn(text: string, now: number): ((at: number) => boolean) | undefined {
  const spans = [...monthsIn(text, now), ...relativeIn(text, now)];
  return spans.length === 0 ? undefined : (at) => spans.some(({ from, to }) => at >= from && at < to);
}

/**
 * The months that a text names. A name counts as a month if a number is near it, or if it begins with a capital within a sentence: the "May" in "May I" does
 * not. Without a year, the latest such month is meant.
 * @example `May 2023`, `8 мая 2023`, `2023年5月`
 */
function monthsIn(text: string, now: number): readonly Span[] {
  const names = monthNames();
  const tokens = text.normalize('NFKC').match(/\p{L}[\p{L}\p{M}]*|\p{N}+/gu) ?? [];
  return tokens.flatMap((token, index) => {
    const numbers = tokens.slice(Math.max(0, index - NEAR), index + NEAR + 1).filter((one) => /^\p{N}+$/u.test(one));
    const isName = numbers.length > 0 || (index > 0 && /^\p{Lu}/u.test(token));
    if (!isName) return [];
    const numbered = names.get(folded(`${tokens[index - 1] ?? ''}${token}`));
    const month = numbered ?? monthCalled(folded(token), names);
    if (month === undefined) return [];
    const year = numbers.map(Number).find((number) => number >= 1900 && number < 2200);
    const today = new Date(now);
    const latest = today.getUTCFullYear() - (month > today.getUTCMonth() ? 1 : 0);
    return { from: Date.UTC(year ?? latest, month), to: Date.UTC(year ?? latest, month + 1) };
  });
}

function monthCalled(word: string, names: ReadonlyMap<string, number>): number | undefined {
  return names.get(word) ?? [...names].find(([name]) => isForm(word, name))?.[1];
}

/** The relative times that a text names: "yesterday", "vorgestern", "на прошлой неделе". */
function relativeIn(text: string, now: number): readonly Span[] {
  const said = ` ${(folded(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).join(' ')} `;
  return [...relativeNames()]
    .filter(([name]) => said.includes(isUnspaced(name) ? name : ` ${name} `))
    .map(([, relative]) => spanFrom(relative, now));
}

function spanFrom({ unit, offset }: Relative, now: number): Span {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const today = Date.UTC(year, month, date.getUTCDate());
  switch (unit) {
    case 'day':
      return { from: today + offset * DAY_MS, to: today + (offset + 1) * DAY_MS };
    case 'week':
      // Weeks begin on different days in different countries; seven days that end here cover most of the meant week.
      return { from: today + (offset * 7 - 6) * DAY_MS, to: today };
    case 'month':
      return { from: Date.UTC(year, month + offset), to: Date.UTC(year, month + offset + 1) };
    case 'year':
      return { from: Date.UTC(year + offset, 0), to: Date.UTC(year + offset + 1, 0) };
  }
}

const isUnspaced = (name: string) => /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}]/u.test(name);

const monthNames = once(() => {
  const names = new Map<string, number>();
  for (const locale of LOCALES) {
    for (const options of [{ month: 'long' }, { day: 'numeric', month: 'long' }] as const) {
      const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC', calendar: 'gregory' });
      for (let month = 0; month < 12; month++) {
        const parts = format.formatToParts(Date.UTC(2024, month, 15));
        const at = parts.findIndex(({ type }) => type === 'month');
        const name = folded(parts[at]?.value ?? '');
        // In Japanese, number and sign are separate parts.
        names.set(/\p{L}/u.test(name) ? name : `${name}${parts[at + 1]?.value.trim() ?? ''}`, month);
      }
    }
  }
  return names;
});

const relativeNames = once(() => {
  const names = new Map<string, Relative>();
  for (const locale of LOCALES) {
    const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
    for (const [unit, offset] of RELATIVE) {
      const name = folded(format.format(offset, unit));
      // A language without a word for it gives a number: "2 days ago".
      if (!/\p{N}/u.test(name)) names.set(name.replaceAll(/[^\p{L}\p{M}]+/gu, ' ').trim(), { unit, offset });
    }
  }
  return names;
});
