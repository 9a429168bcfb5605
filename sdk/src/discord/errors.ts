import { DiscordAPIError, HTTPError, RESTJSONErrorCodes } from 'discord.js';
import { sleep } from '../async/waiting.js';
import type { Clock } from '../clock.js';
import { UserError } from '../errors.js';
import { t, translated } from '../text/language.js';

/**
 * The meaning of an error of a request to Discord. There are three cases: Discord refused (`isRefusal`: it was not carried out, and repeating it does not
 * help), Discord or the network failed (`isTransient`: it may have been carried out or not), or the error is not Discord's.
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

/** The channel, message, member, interaction … does not exist (any more): the codes 10001 to 10999, and a bare 404. */
export function isUnknown(error: unknown): boolean {
  if (!isRefusal(error)) return false;
  const code = Number(error.code);
  return (code > 10_000 && code < 11_000) || error.status === 404;
}

/** The bot has no permission: no access to the place, a missing permission, a locked thread, a user who accepts no direct messages. */
export function isForbidden(error: unknown): boolean {
  return isRefusal(error) && (error.status === 403 || FORBIDDEN.has(error.code));
}

/** The place or message does not exist, or not for the bot: repeating the request does not help. */
export function isUnreachable(error: unknown): boolean {
  return isUnknown(error) || isForbidden(error);
}

/** The result of a look-up; `undefined` when it is unreachable. @throws any other error */
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
  /** Ends the retries: the last error of the request is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Before each further attempt; 1, 2, 4, 8 and 16 s unless given. `doublingPauses` makes others. */
  readonly pausesMs?: readonly number[] | undefined;
  /** Called before each pause. */
  readonly onRetry?: (error: unknown, pauseMs: number) => void;
}

/**
 * Retries a request that failed because of Discord or the network. Since it may have been carried out, it has to be repeatable: a read, an edit, a message with
 * a nonce. Rate limits are handled by discord.js.
 * @throws the last error of the request, immediately when retrying cannot help
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

/** Discord's JSON error codes (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json) as sentences. */
const SENTENCES: ReadonlyMap<number | string, string> = new Map([
  [10003, 'There is no channel with that id that I can reach.'],
  [10004, 'There is no server with that id that I can reach.'],
  [10007, 'There is no member with that id here.'],
  [10008, 'There is no message with that id there.'],
  [10009, 'That role has no permissions of its own in this channel.'],
  [10011, 'There is no role with that id here.'],
  [10013, 'There is no user with that id.'],
  [10014, 'Discord does not know that emoji, or I may not use it.'],
  [10015, 'There is no webhook with that id that I can reach.'],
  [20016, 'The channel is in slow mode; please wait a moment.'],
  [20028, 'The channel is being written to too often; please wait a moment.'],
  [30003, 'The channel has as many pinned messages as Discord allows.'],
  [30005, 'The server has as many roles as Discord allows (250).'],
  [30007, 'The channel has as many webhooks as Discord allows (15).'],
  [30010, 'The message has as many different reactions as Discord allows (20).'],
  [30013, 'The server has as many channels as Discord allows (500).'],
  [40005, 'That is more than Discord accepts.'],
  [40067, 'This forum requires a tag on every post.'],
  [50001, 'I have no access to that.'],
  [50003, 'That cannot be done in a direct message.'],
  [50005, 'A message can only be edited by its author.'],
  [50006, 'Discord does not accept an empty message.'],
  [50007, 'This user does not accept messages from me.'],
  [50008, 'There are no messages in a channel of this kind.'],
  [50013, 'I lack a permission for that.'],
  [50021, 'That cannot be done with a system message.'],
  [50024, 'That cannot be done in a channel of this kind.'],
  [50027, 'The webhook token is not right.'],
  [50028, 'That role cannot be changed: it belongs to a bot, or to everyone.'],
  [50083, 'The thread is archived: open it first.'],
  [90001, 'The author of this message has blocked me, so I cannot react.'],
  [160002, 'I cannot reply without the permission to read the message history.'],
  [160004, 'A thread has already been started from this message.'],
  [160005, 'The thread is locked.'],
  [200000, "The server's AutoMod blocked this message."],
]);

const INVALID_FORM = 50035;
const UNAUTHORIZED = 401;

/**
 * Runs `work`. A refusal by Discord becomes a `UserError` with a sentence for members; other errors are thrown unchanged.
 * @example await withRefusalSentences(() => member.roles.add(role));
 */
export async function withRefusalSentences<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const sentence = refusalSentence(error);
    if (sentence === undefined) throw error;
    throw new UserError(sentence, { cause: error });
  }
}

/** The sentence for members about a refusal by Discord; `undefined` for any other error. */
export function refusalSentence(error: unknown): string | undefined {
  if (!(error instanceof DiscordAPIError) || (error.status === UNAUTHORIZED && error.code === 0)) return undefined;
  if (error.code === INVALID_FORM)
    return t('Discord does not accept that: {complaints}', { complaints: complaints(error) });
  const known = SENTENCES.get(error.code);
  if (known !== undefined) return translated(known);
  if (error.status === 429) return t('Discord asks to wait a moment before doing this again.');
  return error.status < 500 ? t('Discord refused that: {reason}', { reason: error.message.slice(0, 200) }) : undefined;
}

/** Each complaint in Discord's tree of errors: "name: Must be 100 or fewer in length." */
function complaints({ rawError }: DiscordAPIError): string {
  const found: string[] = [];
  const walk = (node: unknown, path: readonly string[]): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key !== '_errors') walk(value, [...path, key]);
      else if (Array.isArray(value)) found.push(...value.map((one: unknown) => `${path.join('.')}: ${messageIn(one)}`));
    }
  };
  walk('errors' in rawError ? rawError.errors : undefined, []);
  return found.length === 0 ? t('a part of it is not allowed.') : found.slice(0, 5).join('; ');
}

function messageIn(complaint: unknown): string {
  const isTold = typeof complaint === 'object' && complaint !== null && 'message' in complaint;
  return isTold ? String(complaint.message).slice(0, 200) : t('not allowed');
}
