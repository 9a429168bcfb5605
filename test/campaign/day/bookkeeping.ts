import { z } from '@cinnabar/sdk';
import { codesIn } from './requests.js';
import type { Sighting } from './sightings.js';

/** Minimum length of a line: members may write shorter ones by chance. */
const FEWEST_WORDS = 3;
/** Number of characters of the request that are reported around a match. */
const CONTEXT = 150;

/** A request to a model, or a message to an agent, with its time. */
export interface Told {
  readonly whom: string;
  readonly body: unknown;
}

/**
 * Lines of a bot that no model wrote but that a model received. In this guild each text of a model contains a code, so all other lines of a bot are the host's:
 * receipts, answers to commands, notices, cards.
 */
export function bookkeepingIn(told: readonly Told[], sightings: readonly Sighting[]): readonly string[] {
  const lines = new Map<string, string>();
  for (const { text, isBot, what } of sightings) {
    if (!isBot || what === 'deletes' || what === 'reacts') continue;
    for (const line of text.split('\n')) {
      const words = wordsOf(line);
      if (codesIn(line).length === 0 && words.split(' ').length >= FEWEST_WORDS) lines.set(words, line);
    }
  }
  const byStart = new Map<string, string[]>();
  for (const line of lines.keys()) byStart.set(startOf(line), [...(byStart.get(startOf(line)) ?? []), line]);
  return told.flatMap(({ whom, body }) => {
    const words = wordsOf(spokenIn(body).join('\n'));
    const all = words.split(' ');
    const starts = new Set(all.map((_, index) => all.slice(index, index + FEWEST_WORDS).join(' ')));
    const found = [...starts]
      .flatMap((start) => byStart.get(start) ?? [])
      .filter((line) => ` ${words} `.includes(` ${line} `));
    const [first] = found;
    if (first === undefined) return [];
    const at = words.indexOf(first);
    const context = words.slice(Math.max(0, at - CONTEXT), at + first.length + CONTEXT);
    const more = found.length > 1 ? ` and ${found.length - 1} more such lines` : '';
    return [`${whom} was told "${lines.get(first)}"${more}: … ${context} …`];
  });
}

const startOf = (words: string) => words.split(' ').slice(0, FEWEST_WORDS).join(' ');

/** A line without quotation, markup and line breaks, for comparison. */
function wordsOf(text: string): string {
  return text
    .replaceAll('\\n', ' ')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

const messagesSchema = z.union([
  z.object({ messages: z.array(z.unknown()) }).transform(({ messages }) => messages),
  z.object({ input: z.unknown() }).transform(({ input }) => [input]),
  z.string().transform((text) => [text]),
]);
/** The results of tools are not part of the conversation. */
const RESULTS = new Set(['tool_result', 'function_call_output', 'tool_use', 'function_call']);
/** A result in a request that consists of one text. */
const RESULT_LINE = /^\w+[<>]\[/u;

/** The texts of a request's conversation; its instructions and tools are independent of the messages. */
function spokenIn(body: unknown): readonly string[] {
  return textsOf(messagesSchema.safeParse(body).data ?? []);
}

function textsOf(part: unknown): readonly string[] {
  if (typeof part === 'string') return part.split('\n').filter((line) => !RESULT_LINE.test(line));
  if (Array.isArray(part)) return part.flatMap(textsOf);
  if (typeof part !== 'object' || part === null) return [];
  const { type, role } = { type: undefined, role: undefined, ...part };
  const isLeftOut = RESULTS.has(String(type)) || role === 'system' || role === 'developer';
  return isLeftOut ? [] : Object.values(part).flatMap(textsOf);
}
