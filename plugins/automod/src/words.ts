import { matchesWildcard } from '@cinnabar/sdk';
import { fold } from './fold.js';

/** Finds the first of the words in a text that was folded. */
export type FindWord = (folded: string) => string | undefined;

/** What is left of a word after its literal beginning, which the trie holds. */
interface Entry {
  /** As the admin wrote it. */
  readonly word: string;
  /** With `*`, compared with the rest of the word in the text; `undefined` when there is none. */
  readonly rest: string | undefined;
  /** Whether the text's word has to end there. */
  readonly isClosed: boolean;
}

/**
 * Compiles a list of words and phrases. A word is found as a whole word; `*` at its beginning, end or inside stands for any letters. No regular
 * expressions: the time grows with the length of the text alone, whatever the words are.
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
      // A word that begins with a sign, such as an emoji, begins anywhere.
      const found =
        (!wasLetter || !isLetter ? anchored.find(text, at, failed) : undefined) ??
        (searchesAll ? floating.find(text, at, failed) : undefined);
      if (found !== undefined) return found;
      wasLetter = isLetter;
    }
    return undefined;
  };
}

/** Words by their characters: one map of transitions for all nodes. */
function createTrie() {
  const next = new Map<number, number>();
  const entries = new Map<number, Entry[]>();
  /** Which characters a word begins with, a bit for each: nearly every place in a text is done with here. */
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
 * Where the word of the text ended in which the rest of an entry was not found. Since that begins with `*`, it is not found from further on in the
 * same word either: without this, long words of the text would take a time that grows with their square.
 */
type Failed = Map<Entry, number>;

/** Whether what follows the literal beginning, whose last character is at `at`, is what the word asks for. */
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
/** Whether each code unit belongs to a word: 0 not looked up yet, 1 yes, 2 no. Letters beyond the first plane are folded to others before; what is left of it are signs. */
const kinds = new Uint8Array(0x1_0000);

function isLetterAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // Past the end.
  if (Number.isNaN(code)) return false;
  const kind = kinds[code];
  if (kind !== 0) return kind === 1;
  const isLetter = LETTER.test(String.fromCharCode(code));
  kinds[code] = isLetter ? 1 : 2;
  return isLetter;
}
