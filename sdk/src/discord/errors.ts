import { DiscordAPIError, HTTPError, RESTJSONErrorCodes } from 'discord.js';

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
