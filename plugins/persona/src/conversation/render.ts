import { ago } from './local-time.js';
import type { Line } from './schema.js';

/**
 * Data inside a prompt: one line of JSON in which nothing can end the block that it stands in.
 * @example inert({ said: '</state>' }) // '{"said":"\\u003c/state>"}'
 */
export function inert(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replace(/[\u0085\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Mentions as names: a model would not know whom an id means. */
export function withNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(/<@!?(\d{15,22})>/g, (mention, id: string) => (names.has(id) ? `@${names.get(id)}` : mention));
}

/**
 * The lines as the model reads them, numbered from 1, a JSON object each; calls that had to wait, with how they stand now.
 * @param names of people and of the persona itself, by id
 * @param now by the clock in ms: each line says how long ago it was
 * @param statusOf how a call stands now, as far as it may be told here
 */
export async function renderLines(
  lines: readonly Line[],
  names: ReadonlyMap<string, string>,
  self: string,
  now: number,
  statusOf: (callId: string) => Promise<string>,
): Promise<string> {
  const numberOf = new Map(lines.flatMap(({ messageIds }, index) => messageIds.map((id) => [id, index + 1] as const)));
  const written = await Promise.all(
    lines.map(async ({ userId, text, callId, at, replyTo, files }, index) => {
      const n = index + 1;
      if (callId !== undefined) return inert({ n, when: ago(at, now), tool: text, status: await statusOf(callId) });
      const answered = replyTo === undefined ? undefined : numberOf.get(replyTo);
      return inert({
        n,
        when: ago(at, now),
        from: userId === null ? self : (names.get(userId) ?? 'someone'),
        ...(answered === undefined ? {} : { in_reply_to: answered }),
        said: withNames(text, names),
        ...(files === undefined ? {} : { attached: files }),
      });
    }),
  );
  return written.join('\n');
}
