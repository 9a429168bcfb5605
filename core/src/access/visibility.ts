import type { Place } from '@cinnabar/sdk';
import {
  ChannelType,
  type Client,
  type GuildBasedChannel,
  type GuildMember,
  PermissionFlagsBits,
  type PermissionOverwrites,
  type PrivateThreadChannel,
  type Role,
} from 'discord.js';
import type { Memberships } from './memberships.js';
import { NO_PERMISSIONS } from './policy.js';
import type { Permissions } from './subjects.js';

const { ViewChannel, ReadMessageHistory, Connect } = PermissionFlagsBits;

/**
 * Whether everybody who can see one place may read another, by roles and overwrites alone: no member is fetched. Where it does not follow
 * from these, the other counts as more private.
 */
export function isOpenTo(client: Client, read: Place, told: Place): boolean {
  if (read.channelId !== undefined && read.channelId === told.channelId) return true;
  // A direct message has one reader, who may read the source; and what was said in one is told in no other place.
  if (told.guildId === null) return read.guildId !== null;
  if (read.guildId !== told.guildId) return false;
  // A guild's members and roles are for its members.
  if (read.channelId === undefined) return true;
  const [from, to] = [client.channels.cache.get(read.channelId), client.channels.cache.get(told.channelId ?? '')];
  if (from === undefined || to === undefined || from.isDMBased() || to.isDMBased()) return false;
  return !isPrivateThread(from) && seesBoth(homeOf(to), homeOf(from));
}

/** A thread is for those who see its parent; a private one for fewer. */
function homeOf(channel: GuildBasedChannel): GuildBasedChannel {
  return channel.isThread() ? (channel.parent ?? channel) : channel;
}

/** Whether all who can see the one may read the other. */
function seesBoth(one: GuildBasedChannel, other: GuildBasedChannel): boolean {
  // A thread and its parent: those who see the one, see the other; its history is another matter.
  if (one.id === other.id) return !overwritesOf(other).some(({ deny }) => deny.has(ReadMessageHistory));
  const { everyone, cache: roles } = other.guild.roles;
  const hides = (overwrite: PermissionOverwrites) => overwrite.deny.any(ViewChannel | ReadMessageHistory | Connect);
  // A member may see the one, and be shut out of the other by name or by a role.
  const shutsOut = overwritesOf(other).some((overwrite) => overwrite.id !== everyone.id && hides(overwrite));
  if (shutsOut) return false;
  if (reads(other, everyone)) return true;
  if (sees(one, everyone)) return false;
  const isBot = (id: string) => id === other.client.user.id;
  const people = overwritesOf(one).filter(({ id, allow }) => !roles.has(id) && !isBot(id) && allow.has(ViewChannel));
  const admitted = [...roles.values()].filter((role) => role.tags?.botId === undefined && sees(one, role));
  const peopleToo = people.every(({ id }) =>
    overwritesOf(other).some((there) => there.id === id && admits(there, other)),
  );
  return peopleToo && admitted.every((role) => reads(other, role));
}

const overwritesOf = (channel: GuildBasedChannel): readonly PermissionOverwrites[] =>
  'permissionOverwrites' in channel ? [...channel.permissionOverwrites.cache.values()] : [];

const needed = (channel: GuildBasedChannel) =>
  ViewChannel | ReadMessageHistory | (channel.isVoiceBased() ? Connect : 0n);

const admits = ({ allow }: PermissionOverwrites, channel: GuildBasedChannel) => allow.has(needed(channel));

const sees = (channel: GuildBasedChannel, who: Role | GuildMember) =>
  channel.permissionsFor(who)?.has(ViewChannel) === true;

const reads = (channel: GuildBasedChannel, role: Role) => channel.permissionsFor(role)?.has(needed(channel)) === true;

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

/** A thread whose parent is gone grants nothing. */
export function permissionsIn(channel: GuildBasedChannel, member: GuildMember): Permissions {
  return channel.permissionsFor(member) ?? NO_PERMISSIONS;
}
