import { HTTPError } from 'discord.js';

/** Unknown channel or message, no access, no permission, a locked thread (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json). */
const GONE = new Set<unknown>([10003, 10008, 50001, 50013, 160005]);
const NETWORK = /^(?:ECONN|ETIMEDOUT|EPIPE|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UND_ERR_)/;

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Whether there is no point in trying again. */
export const isGone = (error: unknown): boolean => GONE.has(codeOf(error));

/** Whether it failed for Discord's or the network's sake: nobody knows whether it was carried out. */
export function isPassing(error: unknown): boolean {
  if (error instanceof HTTPError) return error.status >= 500;
  if (!(error instanceof Error)) return false;
  return error.name === 'AbortError' || NETWORK.test(String(codeOf(error)));
}
