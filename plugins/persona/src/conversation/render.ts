import type { Ledger } from '@cinnabar/sdk';
import { outcomeText } from '../triggers/tool-result.js';
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

/** The lines as the model reads them, a JSON object each; calls that had to wait, with how they stand now. */
export async function renderLines(
  lines: readonly Line[],
  names: ReadonlyMap<string, string>,
  self: string,
  ledger: Pick<Ledger, 'get'>,
): Promise<string> {
  const written = await Promise.all(
    lines.map(async ({ userId, text, callId }) => {
      if (callId !== undefined) return inert({ tool: text, status: outcomeText(await ledger.get(callId)) });
      return inert({ from: userId === null ? self : (names.get(userId) ?? 'someone'), said: text });
    }),
  );
  return written.join('\n');
}
