import { matchesWildcard, skeletonOf } from '@cinnabar/sdk';
import type { Filter, Values } from './context.js';

/** The parts of a message that the filters use. */
export interface Looked {
  readonly content: string;
  /** Number of different members and roles that the message mentions. */
  readonly mentions: number;
}

/** A message, with other text shown in it: forwarded messages, and its poll. */
interface Said {
  readonly content: string;
  readonly messageSnapshots: { values(): Iterable<{ readonly content: string | null }> };
  readonly poll: {
    readonly question: { readonly text: string | null };
    readonly answers: { values(): Iterable<{ readonly text: string | null }> };
  } | null;
}

/** All text in a message that members can read. */
export function wordsOf({ content, messageSnapshots, poll }: Said): string {
  const forwarded = [...messageSnapshots.values()].map((one) => one.content);
  const asked = poll === null ? [] : [poll.question.text, ...[...poll.answers.values()].map(({ text }) => text)];
  const others = [...forwarded, ...asked].filter((text) => text !== null && text !== '');
  return others.length === 0 ? content : [content, ...others].join('\n');
}

/** A filter that a message violates, and the matching text. */
export interface Hit {
  readonly filter: Filter;
  /** The matching word or address, for moderators. */
  readonly what: string;
}

/** The filters of a guild, compiled once when its settings change. */
export interface Rules {
  readonly values: Values;
  /** Whether any filter is enabled. */
  readonly isOn: boolean;
  /** Checks the content of a message. Invites are only collected (`invitesIn`), since their servers have to be looked up. */
  check(message: Looked): Hit | undefined;
  /** Checks nicknames and names of threads. */
  checkName(name: string): Hit | undefined;
}

const LEAST_LETTERS = 12;
/** Discord's own addresses do not count as links: messages, emoji, attachments. Invites have a separate filter. */
const OWN_DOMAINS = ['discord.com', 'discordapp.com', 'discordapp.net', 'discord.gg'];

export function compileRules(values: Values): Rules {
  const findWord = compileWords(values.words);
  const hasWords = values.words.length > 0;
  const { mentions, capitals, links, domains } = values;
  const listed = new Set(domains.map((domain) => domain.replace(/^\*\./, '')));

  const badLink = (content: string): string | undefined => {
    if (links === 'off') return undefined;
    return domainsIn(content).find(
      (domain) => !isWithin(domain, OWN_SET) && isWithin(domain, listed) === (links === 'deny'),
    );
  };
  const checks: readonly (readonly [Filter, (message: Looked) => string | undefined])[] = [
    ...(hasWords ? [['words', ({ content }: Looked) => findWord(fold(content))] as const] : []),
    ...(links === 'off' ? [] : [['links', ({ content }: Looked) => badLink(content)] as const]),
    ...(mentions === 0
      ? []
      : [['mentions', ({ mentions: count }: Looked) => (count > mentions ? String(count) : undefined)] as const]),
    ...(capitals === 0 ? [] : [['capitals', ({ content }: Looked) => tooLoud(content, capitals)] as const]),
  ];
  return {
    values,
    isOn: checks.length > 0 || values.invites || values.repeats > 0 || values.rate > 0,
    check(message) {
      for (const [filter, find] of checks) {
        const what = find(message);
        if (what !== undefined) return { filter, what };
      }
      return undefined;
    },
    checkName(name) {
      const what = values.names && hasWords ? findWord(fold(name)) : undefined;
      return what === undefined ? undefined : { filter: 'words', what };
    },
  };
}

const OWN_SET: ReadonlySet<string> = new Set(OWN_DOMAINS);

/** A link, or text that clients show as one. Each character is examined a limited number of times. */
const LINK = /https?:\/\/(?:[^\s/?#@]{0,200}@)?([^\s/?#<>()[\]"'\\:@]{1,253})/gi;

function domainsIn(content: string): readonly string[] {
  if (!content.includes('://')) return [];
  return [...visibleOnly(content).matchAll(LINK)].map(([, host = '']) => host.toLowerCase().replace(/\.+$/, ''));
}

/** Whether the list contains a domain or one of its parents. */
function isWithin(domain: string, list: ReadonlySet<string>): boolean {
  for (let rest = domain; ; ) {
    if (list.has(rest)) return true;
    const dot = rest.indexOf('.');
    if (dot < 0) return false;
    rest = rest.slice(dot + 1);
  }
}

const INVITE = /(?:discord\.gg|discord(?:app)?\.com\/invite|dsc\.gg)\/+([\w-]{2,40})/gi;

/** Codes of invites in a message. */
export function invitesIn(content: string): readonly string[] {
  // Ends early for nearly every message.
  if (!content.includes('/')) return [];
  return [...new Set([...visibleOnly(content).matchAll(INVITE)].map(([, code = '']) => code))];
}

const CUSTOM_EMOJI = /<a?:\w{2,32}:\d{15,21}>/g;

function tooLoud(content: string, most: number): string | undefined {
  const text = content.includes('<') ? content.replace(CUSTOM_EMOJI, '') : content;
  const small = text.toLowerCase();
  const large = text.toUpperCase();
  // Some letters fold to two, which shifts positions: then each letter is checked separately.
  const isAligned = small.length === text.length && large.length === text.length;
  const { letters, capitals } = isAligned ? countAligned(text, small, large) : countSingly(text);
  if (letters < LEAST_LETTERS) return undefined;
  const share = Math.round((capitals / letters) * 100);
  return share > most ? `${share} %` : undefined;
}

function countAligned(text: string, small: string, large: string) {
  let letters = 0;
  let capitals = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = small.charCodeAt(at);
    if (code === large.charCodeAt(at)) continue;
    letters += 1;
    if (code !== text.charCodeAt(at)) capitals += 1;
  }
  return { letters, capitals };
}

function countSingly(text: string) {
  const characters = [...text].filter((one) => one.toLowerCase() !== one.toUpperCase());
  return { letters: characters.length, capitals: characters.filter((one) => one !== one.toLowerCase()).length };
}

/** Finds the first of the words in a folded text. */
type FindWord = (folded: string) => string | undefined;

/** The part of a word after its literal beginning, which is in the trie. */
interface Entry {
  /** The word as the admin wrote it. */
  readonly word: string;
  /** The pattern with `*` for the rest of a text's word; `undefined` when there is none. */
  readonly rest: string | undefined;
  /** Whether the text's word has to end after the match. */
  readonly isClosed: boolean;
}

/**
 * Compiles a list of words and phrases. A word is found as a whole word; `*` at its beginning, end or inside stands for any letters. It uses no regular
 * expressions: the time depends only on the length of the text, for any words.
 */
export function compileWords(words: readonly string[]): FindWord {
  const anchored = createTrie();
  const floating = createTrie();
  for (const word of words) {
    const pattern = fold(word).replace(/\*+/g, '*');
    const isOpen = pattern.startsWith('*');
    const literal = isOpen ? pattern.slice(1) : pattern;
    const star = literal.indexOf('*');
    const head = star < 0 ? literal : literal.slice(0, star);
    const tail = star < 0 ? undefined : literal.slice(star);
    if (head === '') continue;
    (isOpen ? floating : anchored).add(head, {
      word,
      rest: tail === undefined || tail === '*' ? undefined : tail,
      isClosed: tail === undefined,
    });
  }
  if (anchored.isEmpty() && floating.isEmpty()) return () => undefined;
  return (text) => {
    const failed: Failed = new Map();
    const searchesAll = !floating.isEmpty();
    let wasLetter = false;
    for (let at = 0; at < text.length; at += 1) {
      const isLetter = isLetterAt(text, at);
      // A word that begins with a sign, such as an emoji, can begin anywhere.
      const found =
        (!wasLetter || !isLetter ? anchored.find(text, at, failed) : undefined) ??
        (searchesAll ? floating.find(text, at, failed) : undefined);
      if (found !== undefined) return found;
      wasLetter = isLetter;
    }
    return undefined;
  };
}

/** A trie of the words: one map of transitions for all nodes. */
function createTrie() {
  const next = new Map<number, number>();
  const entries = new Map<number, Entry[]>();
  /** The first characters of all words, as a bit set: it rejects nearly every position in a text. */
  const first = new Uint8Array(0x2000);
  let nodes = 1;
  const keyOf = (node: number, code: number) => node * 0x1_0000 + code;

  return {
    isEmpty: () => nodes === 1,
    add(head: string, entry: Entry): void {
      let node = 0;
      const code = head.charCodeAt(0);
      first[code >> 3] = (first[code >> 3] ?? 0) | (1 << (code & 7));
      for (let at = 0; at < head.length; at += 1) {
        const key = keyOf(node, head.charCodeAt(at));
        const known = next.get(key) ?? nodes;
        if (known === nodes) {
          next.set(key, known);
          nodes += 1;
        }
        node = known;
      }
      entries.set(node, [...(entries.get(node) ?? []), entry]);
    },
    find(text: string, from: number, failed: Failed): string | undefined {
      const code = text.charCodeAt(from);
      if (((first[code >> 3] ?? 0) & (1 << (code & 7))) === 0) return undefined;
      let node: number | undefined = 0;
      for (let at = from; at < text.length; at += 1) {
        node = next.get(keyOf(node, text.charCodeAt(at)));
        if (node === undefined) return undefined;
        for (const entry of entries.get(node) ?? NONE) if (endsWell(text, at, entry, failed)) return entry.word;
      }
      return undefined;
    },
  };
}

const NONE: readonly Entry[] = [];

/**
 * For an entry whose rest was not found: the end of the text's word. Since the rest begins with `*`, it cannot match later in the same word. Without this, long
 * words would take quadratic time.
 */
type Failed = Map<Entry, number>;

/** Whether the text after the literal beginning, whose last character is at `at`, matches the rest of the word. */
function endsWell(text: string, at: number, entry: Entry, failed: Failed): boolean {
  const { rest, isClosed } = entry;
  if (isClosed) return !(isLetterAt(text, at) && isLetterAt(text, at + 1));
  if (rest === undefined) return true;
  if ((failed.get(entry) ?? -1) > at) return false;
  const space = text.indexOf(' ', at + 1);
  const end = space < 0 ? text.length : space;
  if (matchesWildcard(text.slice(at + 1, end), rest)) return true;
  failed.set(entry, end);
  return false;
}

const LETTER = /[\p{L}\p{N}_]/u;
/**
 * Whether each code unit belongs to a word: 0 unknown, 1 yes, 2 no. Letters beyond the first plane were folded to others before; the remaining ones are signs.
 */
const kinds = new Uint8Array(0x1_0000);

function isLetterAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // The index is past the end of the text.
  if (Number.isNaN(code)) return false;
  const kind = kinds[code];
  if (kind !== 0) return kind === 1;
  const isLetter = LETTER.test(String.fromCharCode(code));
  kinds[code] = isLetter ? 1 : 2;
  return isLetter;
}

/**
 * The form of text that filters compare: lower case, one space between words, without invisible characters, accents, and look-alike letters of other alphabets.
 * Words and messages are folded the same way, so that a word in Cyrillic is found in Cyrillic, too.
 */

const ASCII = /^[\0-\x7F]*$/;
const SPACES = /\s+/g;
const OTHER_SPACES = /\s\s|[^\S ]/;
const IGNORED = /^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\u2800]$/u;
const MARKS = /\p{M}/gu;

/** Cache of folded characters that are not ASCII, by code: messages use the same few repeatedly. */
const folded = new Map<number, string>();
const MOST_KEPT = 20_000;

export function fold(text: string): string {
  const small = (ASCII.test(text) ? text : foldCharacters(text)).toLowerCase();
  // Most texts have single spaces only.
  return (OTHER_SPACES.test(small) ? small.replace(SPACES, ' ') : small).trim();
}

function foldCharacters(text: string): string {
  let result = '';
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 128) {
      result += text[at];
      continue;
    }
    const whole = code >= 0xd800 && code <= 0xdbff ? (text.codePointAt(at) ?? code) : code;
    if (whole > 0xffff) at += 1;
    result += folded.get(whole) ?? foldOne(whole);
  }
  return result;
}

function foldOne(code: number): string {
  if (folded.size >= MOST_KEPT) folded.clear();
  const character = String.fromCodePoint(code);
  const result = IGNORED.test(character) ? '' : looksLike(character);
  folded.set(code, result);
  return result;
}

function looksLike(character: string): string {
  if (/\s/u.test(character)) return ' ';
  // Lower case first, since the skeleton of another alphabet's capital I is an l.
  const small = character.normalize('NFKD').toLowerCase();
  return skeletonOf(small).normalize('NFKD').replace(MARKS, '').toLowerCase();
}

/** Removes invisible characters and narrows wide letters only: for addresses, whose spelling matters. */
function visibleOnly(text: string): string {
  if (ASCII.test(text)) return text;
  return text.normalize('NFKC').replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
}
