import { DiscordAPIError, HTTPError, RESTJSONErrorCodes } from 'discord.js';
import { sleep } from '../async/waiting.js';
import type { Clock } from '../clock.js';

/*
 * What an error of a request to Discord means. Three things can have happened: Discord refused (`isRefusal`: it was not carried out, and
 * repeating it does not help), Discord or the network failed (`isTransient`: it may have been carried out or not), or the error is not Discord's.
 * https://discord.com/developers/docs/topics/opcodes-and-status-codes
 */

const FORBIDDEN: ReadonlySet<string | number> = new Set([
  RESTJSONErrorCodes.MissingAccess,
  RESTJSONErrorCodes.MissingPermissions,
  RESTJSONErrorCodes.CannotSendMessagesToThisUser,
  RESTJSONErrorCodes.ThreadLocked,
]);

/** Discord refused the request and did not carry it out. */
export function isRefusal(error: unknown): error is DiscordAPIError {
  return error instanceof DiscordAPIError && error.status < 500;
}

/** There is no such channel, message, member, interaction … (any more): the codes 10001 to 10999, and a bare 404. */
export function isUnknown(error: unknown): boolean {
  if (!isRefusal(error)) return false;
  const code = Number(error.code);
  return (code > 10_000 && code < 11_000) || error.status === 404;
}

/** The bot is not allowed to: no access to the place, a missing permission, a locked thread, a user who takes no messages. */
export function isForbidden(error: unknown): boolean {
  return isRefusal(error) && (error.status === 403 || FORBIDDEN.has(error.code));
}

/** The place or message does not exist, or not for the bot: repeating the request does not help. */
export function isUnreachable(error: unknown): boolean {
  return isUnknown(error) || isForbidden(error);
}

/** What was looked up; `undefined` where it is unreachable. @throws any other error */
export async function unlessUnreachable<T>(lookup: Promise<T>): Promise<T | undefined> {
  try {
    return await lookup;
  } catch (error) {
    if (isUnreachable(error)) return undefined;
    throw error;
  }
}

const NETWORK = /^(?:ECONN|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND|ENETUNREACH|ENETDOWN|EHOSTUNREACH|UND_ERR_)/;

/**
 * Discord failed (5xx), took too long, or could not be reached: the same request may go through a little later. It is unknown whether it was
 * carried out, so repeat only reads, edits, and messages with a nonce (`sendOnce`).
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof HTTPError || error instanceof DiscordAPIError) return error.status >= 500;
  if (!(error instanceof Error)) return false;
  return error.name === 'AbortError' || ('code' in error && NETWORK.test(String(error.code)));
}

/** 31 s in all. discord.js has repeated the request a few times by itself at each attempt. */
const PAUSES_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];

export interface RetryOptions {
  /** Ends the waiting: what the request threw last is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Before each further attempt; 1, 2, 4, 8 and 16 s unless given. `doublingPauses` makes others. */
  readonly pausesMs?: readonly number[] | undefined;
  /** Called before each pause. */
  readonly onRetry?: (error: unknown, pauseMs: number) => void;
}

/**
 * Repeats a request that failed for Discord's or the network's sake. It is unknown whether it was carried out, so it has to be one that can be
 * repeated: a read, an edit, a message with a nonce. Rate limits are not its business: discord.js holds requests back by itself.
 * @throws what the request threw last, or at once when repeating it cannot help
 * @example await retryDiscord(clock, () => channel.messages.edit(id, { content }), { signal });
 */
export async function retryDiscord<T>(
  clock: Clock,
  request: () => Promise<T>,
  { signal, pausesMs = PAUSES_MS, onRetry }: RetryOptions = {},
): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await request();
    } catch (error) {
      if (!isTransient(error) || signal?.aborted === true) throw error;
      onRetry?.(error, pauseMs);
      if (!(await sleep(clock, pauseMs, signal))) throw error;
    }
  }
  return request();
}

/** Pauses from `firstMs`, each twice the one before and none longer than `longestMs`, until they add up to `totalMs`. */
export function doublingPauses(firstMs: number, longestMs: number, totalMs: number): readonly number[] {
  const pauses: number[] = [];
  for (let pause = firstMs, left = totalMs; left > 0; pause = Math.min(pause * 2, longestMs)) {
    pauses.push(Math.min(pause, left));
    left -= pause;
  }
  return pauses;
}
