import { visible } from '@cinnabar/sdk';

/** Whatever any program takes for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u;
/** Scripts are written with them, and emoji joined; they move and hide nothing. */
const HARMLESS = /(\u200C|\u200D|\t)/u;

/** Starts every line of what somebody wrote, other than the one behind their name. No line of the prompt itself starts with it. */
const MARK = '> ';

/**
 * What somebody wrote, in such a form that none of it can pass for a line of the prompt: each line is marked.
 * @example quoted('Hi\n**Context:**') // '> Hi\n> **Context:**'
 */
export function quoted(text: string): string {
  return linesOf(text)
    .map((line) => `${MARK}${line}`.trimEnd())
    .join('\n');
}

/**
 * The same behind a label, which the first line follows: a line that starts with a label of the prompt's own can be nothing else.
 * @example labelled('alice', 'Hi\n**Context:**') // 'alice: Hi\n> **Context:**'
 */
export function labelled(label: string, text: string): string {
  const [first = '', ...more] = linesOf(text);
  return [`${label}: ${first}`.trimEnd(), ...more.map((line) => `${MARK}${line}`.trimEnd())].join('\n');
}

/** What somebody wrote as one line, for a place inside a line of the prompt. */
export function inLine(text: string): string {
  return linesOf(text).join(' ').trim();
}

function linesOf(text: string): readonly string[] {
  return text.split(LINE_END).map(shown);
}

/** Hidden characters carry orders to models that people cannot see. */
function shown(line: string): string {
  return line
    .split(HARMLESS)
    .map((part, index) => (index % 2 === 1 ? part : visible(part)))
    .join('');
}

/** A member's longest message is as long; longer is only what plugins and webhooks write. */
export const LONGEST_MESSAGE = 4_000;
/** Of each message that is shown for the sake of another one. */
export const LONGEST_LINK = 1_000;

interface Cut {
  readonly text: string;
  /** A line of the prompt that tells what is missing; `undefined` when nothing is. */
  readonly note: string | undefined;
}

/** Shortens a text for the prompt, never inside a character. @param readable whether the agent can read messages itself */
export function cut(text: string, longest: number, readable: boolean): Cut {
  if (text.length <= longest) return { text, note: undefined };
  const kept = text.slice(0, longest).replace(/[\uD800-\uDBFF]$/u, '');
  const rest = readable ? '; discord_read_messages(channelId, limit) shows all of it' : '';
  return { text: kept, note: `(Cut: ${kept.length} of ${text.length} characters are shown${rest}.)` };
}
