import { distance } from 'fastest-levenshtein';
import type { Person } from '../types.js';
import { isEmptyWord, wordsOf } from './words.js';

/** People by their names. */
export interface Directory {
  /** Those whose full name this is; in lower case, words apart by one space. */
  bearers(name: string): readonly string[];
  /** Those with this word in a longer name. */
  partly(word: string): readonly string[];
  /** All words of all names. */
  words(): Iterable<string>;
}

export function createDirectory() {
  const full = new Map<string, Set<string>>();
  const parts = new Map<string, Set<string>>();
  const into = (map: Map<string, Set<string>>, key: string, userId: string) => {
    const known = map.get(key);
    if (known === undefined) map.set(key, new Set([userId]));
    else known.add(userId);
  };
  return {
    add({ userId, names }: Person): void {
      for (const name of names) {
        const words = nameWords(name);
        if (words.length === 0) continue;
        into(full, words.join(' '), userId);
        if (words.length > 1) for (const word of words) if (!isEmptyWord(word)) into(parts, word, userId);
      }
    },
    remove(userId: string): void {
      for (const map of [full, parts])
        for (const [key, users] of map) if (users.delete(userId) && users.size === 0) map.delete(key);
    },
    bearers: (name: string) => [...(full.get(name) ?? [])],
    partly: (word: string) => [...(parts.get(word) ?? [])],
    *words() {
      for (const name of full.keys()) yield* name.split(' ');
    },
  };
}

/** Looks into several directories as though they were one. */
export function joined(...directories: readonly Directory[]): Directory {
  const all = (of: (directory: Directory) => readonly string[]) => [...new Set(directories.flatMap(of))];
  return {
    bearers: (name) => all((directory) => directory.bearers(name)),
    partly: (word) => all((directory) => directory.partly(word)),
    *words() {
      for (const directory of directories) yield* directory.words();
    },
  };
}

/** Where a text names a person. */
export interface Naming {
  readonly userIds: readonly string[];
  /** Place of the first word of the name, and how many words it has. */
  readonly at: number;
  readonly length: number;
}

export interface Token {
  readonly word: string;
  readonly lower: string;
  /** A member's id, when it is a mention. */
  readonly mention: string | undefined;
  /** Begins the text or a sentence, where every word has a capital. */
  readonly initial: boolean;
  /** The character before it. */
  readonly before: string;
  /** The character behind it. */
  readonly after: string;
}

const TOKEN = /<@!?(\d{1,20})>|[\p{L}\p{N}\p{M}_]+(?:[-.][\p{L}\p{N}\p{M}_]+)*(?:[''’][\p{L}]+)*/gu;
const MAX_TEXT = 4_000;
const MOST_WORDS_IN_A_NAME = 4;

export function tokensOf(text: string): readonly Token[] {
  const clean = text.slice(0, MAX_TEXT).normalize('NFKC');
  return [...clean.matchAll(TOKEN)].map((match) => {
    const [whole, mention] = match;
    const word = whole.replace(/[''’]s$/iu, '');
    const rest = clean.slice(0, match.index).trimEnd();
    return {
      word,
      lower: word.toLowerCase(),
      mention,
      initial: rest === '' || /[.!?:\n]$/.test(rest),
      before: clean[match.index - 1] ?? '',
      after: clean[match.index + whole.length] ?? '',
    };
  });
}

/** The people that a text names, the longest names first where several would fit. */
export function namingsIn(tokens: readonly Token[], directory: Directory): readonly Naming[] {
  const found: Naming[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const naming = namingAt(tokens, at, directory);
    if (naming === undefined) continue;
    found.push(naming);
    at += naming.length - 1;
  }
  return found;
}

function namingAt(tokens: readonly Token[], at: number, directory: Directory): Naming | undefined {
  const token = tokens[at];
  if (token === undefined) return undefined;
  if (token.mention !== undefined) return { userIds: [token.mention], at, length: 1 };
  for (let length = Math.min(MOST_WORDS_IN_A_NAME, tokens.length - at); length > 0; length--) {
    const words = tokens.slice(at, at + length);
    const userIds = directory.bearers(nameWords(words.map(({ word }) => word).join(' ')).join(' '));
    if (userIds.length > 0 && (length > 1 || mayBeName(token))) return { userIds, at, length };
  }
  const userIds = directory.partly(token.lower);
  return userIds.length > 0 && mayBeName(token) ? { userIds, at, length: 1 } : undefined;
}

/** Will, May and Mark are people when they are written like people. */
const WORDS_TOO: ReadonlySet<string> = new Set(
  `will may mark rose bill art sky grace hope joy jack frank rich dawn june april august summer autumn faith angel star ray drew pat chip max
  sunny iris ivy violet daisy lily pearl ruby amber crystal jade robin jay guy dean chase grant wade cliff forest river rain storm fox wolf bear
  cat dog king prince duke earl bot admin mod mods dad mom mum boss`.split(/\s+/),
);

function mayBeName({ word, lower, initial, before }: Token): boolean {
  if (before === '@') return true;
  if (!WORDS_TOO.has(lower) && !isEmptyWord(lower)) return true;
  return !initial && /^\p{Lu}/u.test(word);
}

/** How far apart two words may be that one may take for each other. */
const NEAR = 2;
const LEAST_LENGTH = 3;
/** Names that begin alike are mistaken for one another. */
const ALIKE = 3;

/** Whether a word reads like somebody's name who is not known, but so similar to a known one that it could be mistaken for it. */
export function isStrangersName(token: Token, directory: Directory, isWord: (lower: string) => boolean): boolean {
  const { word, lower, initial, before, mention } = token;
  if (mention !== undefined || lower.length < LEAST_LENGTH) return false;
  if (before === '@') return true;
  if (!/^\p{Lu}/u.test(word) || isEmptyWord(lower) || (initial && isWord(lower))) return false;
  for (const name of directory.words()) {
    if (name === lower || name.length < LEAST_LENGTH) continue;
    if (name.slice(0, ALIKE) === lower.slice(0, ALIKE)) return true;
    if (
      Math.abs(name.length - lower.length) <= NEAR &&
      distance(name, lower) <= nearFor(Math.min(name.length, lower.length))
    )
      return true;
  }
  return false;
}

const nearFor = (length: number) => (length < 5 ? 1 : NEAR);

const nameWords = (name: string): readonly string[] => wordsOf(name.toLowerCase().replaceAll(/[_.-]/g, ' '));
