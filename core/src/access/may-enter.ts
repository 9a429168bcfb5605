import {
  ChannelType,
  DiscordAPIError,
  type GuildBasedChannel,
  type GuildMember,
  PermissionFlagsBits,
  type PrivateThreadChannel,
  RESTJSONErrorCodes,
} from 'discord.js';
import { permissionsIn } from './guild-standing.js';

/**
 * Whether the member can see what is said in a channel: in a voice channel who may join it, in a private thread its members and who manages
 * threads, whatever its parent says.
 * @param force asks Discord who is in a thread, for when it does not tell of changes
 */
export async function mayEnter(channel: GuildBasedChannel, member: GuildMember, force: boolean): Promise<boolean> {
  const permissions = permissionsIn(channel, member);
  if (!permissions.has(PermissionFlagsBits.ViewChannel)) return false;
  if (channel.isVoiceBased()) return permissions.has(PermissionFlagsBits.Connect);
  if (!isPrivateThread(channel) || permissions.has(PermissionFlagsBits.ManageThreads)) return true;
  try {
    await channel.members.fetch({ member: member.id, force });
    return true;
  } catch (error) {
    if (error instanceof DiscordAPIError && NOT_IN_IT.has(error.code)) return false;
    throw error;
  }
}

export function isPrivateThread(channel: GuildBasedChannel): channel is PrivateThreadChannel {
  return channel.type === ChannelType.PrivateThread;
}

const NOT_IN_IT: ReadonlySet<number | string> = new Set([
  RESTJSONErrorCodes.UnknownMember,
  RESTJSONErrorCodes.UnknownChannel,
  RESTJSONErrorCodes.MissingAccess,
]);
