import {
  ChannelType,
  DiscordAPIError,
  type GuildBasedChannel,
  type GuildMember,
  PermissionFlagsBits,
  RESTJSONErrorCodes,
} from 'discord.js';
import { permissionsIn } from './guild-standing.js';

/** Whether the member can see a channel. A private thread is for its members and for who manages threads, whatever its parent says. */
export async function mayEnter(channel: GuildBasedChannel, member: GuildMember): Promise<boolean> {
  const permissions = permissionsIn(channel, member);
  if (!permissions.has(PermissionFlagsBits.ViewChannel)) return false;
  if (channel.type !== ChannelType.PrivateThread || permissions.has(PermissionFlagsBits.ManageThreads)) return true;
  if (channel.members.cache.has(member.id)) return true;
  try {
    await channel.members.fetch(member.id);
    return true;
  } catch (error) {
    if (error instanceof DiscordAPIError && NOT_IN_IT.has(error.code)) return false;
    throw error;
  }
}

const NOT_IN_IT: ReadonlySet<number | string> = new Set([
  RESTJSONErrorCodes.UnknownMember,
  RESTJSONErrorCodes.UnknownChannel,
  RESTJSONErrorCodes.MissingAccess,
]);
