import {
  ChannelType,
  type GuildBasedChannel,
  type GuildMember,
  PermissionFlagsBits,
  type PrivateThreadChannel,
} from 'discord.js';
import { permissionsIn } from './guild-standing.js';
import type { Memberships } from './memberships.js';

/**
 * Whether a member can see what is said in a channel: in a voice channel who may join it, in a private thread its members and who manages
 * threads, whatever its parent says. No other module decides it, or asks for the permissions of another user than the bot.
 * @param member as `Memberships` has them
 */
export async function mayEnter(
  channel: GuildBasedChannel,
  member: GuildMember,
  memberships: Pick<Memberships, 'isInThread'>,
): Promise<boolean> {
  const permissions = permissionsIn(channel, member);
  if (!permissions.has(PermissionFlagsBits.ViewChannel)) return false;
  if (channel.isVoiceBased()) return permissions.has(PermissionFlagsBits.Connect);
  if (!isPrivateThread(channel) || permissions.has(PermissionFlagsBits.ManageThreads)) return true;
  return memberships.isInThread(channel, member.id);
}

export function isPrivateThread(channel: GuildBasedChannel): channel is PrivateThreadChannel {
  return channel.type === ChannelType.PrivateThread;
}
