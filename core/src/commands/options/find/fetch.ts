import { DiscordAPIError, DiscordjsError, DiscordjsErrorCodes, RESTJSONErrorCodes } from 'discord.js';

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
    if (isNotThere(error)) return undefined;
    throw error;
  }
}

function isNotThere(error: unknown): boolean {
  if (error instanceof DiscordAPIError) return NOT_THERE.has(error.code);
  // The id of a channel of another guild that the bot is in.
  return error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.GuildChannelUnowned;
}
