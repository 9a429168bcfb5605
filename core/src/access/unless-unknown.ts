import { DiscordAPIError, RESTJSONErrorCodes } from 'discord.js';

const GONE: ReadonlySet<number | string> = new Set([
  RESTJSONErrorCodes.UnknownMember,
  RESTJSONErrorCodes.UnknownUser,
  RESTJSONErrorCodes.UnknownChannel,
  RESTJSONErrorCodes.UnknownGuild,
  RESTJSONErrorCodes.MissingAccess,
]);

/** `undefined` where Discord says that there is no such thing; any other failure stays one. */
export async function unlessUnknown<T>(looked: Promise<T>): Promise<T | undefined> {
  try {
    return await looked;
  } catch (error) {
    if (error instanceof DiscordAPIError && GONE.has(error.code)) return undefined;
    throw error;
  }
}
