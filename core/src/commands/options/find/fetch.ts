import { DiscordAPIError, RESTJSONErrorCodes } from 'discord.js';

const NOT_THERE: ReadonlySet<string | number> = new Set([
  RESTJSONErrorCodes.UnknownMember,
  RESTJSONErrorCodes.UnknownUser,
  RESTJSONErrorCodes.UnknownRole,
  RESTJSONErrorCodes.UnknownChannel,
  RESTJSONErrorCodes.UnknownGuild,
  RESTJSONErrorCodes.MissingAccess,
  RESTJSONErrorCodes.InvalidFormBodyOrContentType,
]);

/** `undefined` when Discord says that there is no such thing (or none that the bot may see); other errors are failures. */
export async function orNothing<T>(fetching: Promise<T>): Promise<T | undefined> {
  try {
    return await fetching;
  } catch (error) {
    if (error instanceof DiscordAPIError && NOT_THERE.has(error.code)) return undefined;
    throw error;
  }
}
