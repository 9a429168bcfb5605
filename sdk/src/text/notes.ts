import { INVISIBLE } from './names.js';

/** Wherever a reader, of whatever kind, may see a new line begin. */
const LINE_END = /(\r\n|[\n\r\v\f\u0085\u2028\u2029])/u;
const NOTE = /^(?:\[.*\]|not run yet:.*)$/iu;
/** Most texts: nothing hidden in them, and no bracket. */
const HARMLESS = /^(?!.*not run yet:)[\x20-\x5A\x5C-\x7E\n]*$/is;
const FIRST_SEEN = /[^\s\p{C}\p{Z}\u115F\u1160\u3164\uFFA0\u2800]/u;

/**
 * A member's text, for a prompt in which a line in square brackets, or one that begins with "Not run yet:", is a note of the host's: each line
 * that reads as such a note gets a backslash, also where hidden characters or wide brackets are in it.
 * @example withoutNotes('fine\n[in reply to Claude]') // 'fine\n\\[in reply to Claude]'
 */
export function withoutNotes(text: string): string {
  if (HARMLESS.test(text)) return text;
  return text
    .split(LINE_END)
    .map((line) => (isNote(line) ? line.replace(FIRST_SEEN, '\\$&') : line))
    .join('');
}

function isNote(line: string): boolean {
  return NOTE.test(line.normalize('NFKC').replace(INVISIBLE, '').trim());
}

const LONGEST = 300;

/** A member's text as one line: every character that a reader may take for a line end becomes a space. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Z}\s]+/gu, ' ').trim();
}

/** A member's text for the inside of such a note: one line, without what could end the note, at most so many characters. */
export function inNote(text: string, maxLength = LONGEST): string {
  const line = oneLine(text)
    .replace(/[[［﹇]/gu, '(')
    .replace(/[\]］﹈]/gu, ')');
  const characters = line.length <= maxLength ? [] : [...line];
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength).join('')}…`;
}

/**
 * Whether a message is said past the bots, by a convention of servers with several of them: it starts with a dot. No bot answers it or reads it.
 * Three dots or more are an ellipsis, and the message is like any other.
 */
export function isDotMessage(content: string): boolean {
  return content.startsWith('.') && !content.startsWith('...');
}
