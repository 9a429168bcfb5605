import type { Memory, Person } from './types.js';
import { isForm, wordsOf } from './words.js';

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
