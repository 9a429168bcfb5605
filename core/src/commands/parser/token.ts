import { isSpaceAt, skipSpace, skipWord } from './space.js';

/** One argument as it was typed. */
export interface ArgumentToken {
  /** Without its quotes and escapes. */
  readonly text: string;
  readonly quoted: boolean;
  readonly start: number;
  /** The index after it, closing quote included. */
  readonly end: number;
}

/** Opening quotes and what closes them. */
const QUOTES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['«', '»'],
]);

/**
 * Reads the next argument from `from` on. A quote opens only at the start of an argument and closes only at its end, so that
 * `it's` and `5"` are ordinary; one that nothing closes is ordinary too. A backslash keeps a quote from its meaning.
 * @returns `undefined` at the end of the text
 */
export function readToken(source: string, from: number): ArgumentToken | undefined {
  const start = skipSpace(source, from);
  if (start >= source.length) return undefined;
  const quoted = readQuoted(source, start);
  if (quoted !== undefined) return quoted;
  const end = skipWord(source, start);
  const escaped = source[start] === '\\' && QUOTES.has(source.charAt(start + 1));
  return { text: source.slice(escaped ? start + 1 : start, end), quoted: false, start, end };
}

function readQuoted(source: string, start: number): ArgumentToken | undefined {
  const open = source.charAt(start);
  const close = QUOTES.get(open);
  if (close === undefined) return undefined;
  let text = '';
  for (let at = start + 1; at < source.length; at++) {
    const character = source.charAt(at);
    const next = source.charAt(at + 1);
    if (character === '\\' && (next === '\\' || next === open || next === close)) {
      text += next;
      at++;
    } else if (character === close && endsAt(source, at + 1)) {
      return { text, quoted: true, start, end: at + 1 };
    } else {
      text += character;
    }
  }
  return undefined;
}

function endsAt(source: string, index: number): boolean {
  return index >= source.length || isSpaceAt(source, index);
}
