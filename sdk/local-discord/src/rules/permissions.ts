import { ChannelType, PermissionFlagsBits } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalGuild, LocalMember, LocalRole } from '../state/guilds.js';
import type { LocalUser } from '../state/users.js';
import { ALL_PERMISSIONS, type PermissionName } from './permission-names.js';

const { Administrator, ReadMessageHistory, SendMessages, SendMessagesInThreads, ViewChannel } = PermissionFlagsBits;
const WHILE_TIMED_OUT = ViewChannel | ReadMessageHistory;
/** Permissions without effect for a user who cannot send messages. */
const NEEDS_SENDING =
  PermissionFlagsBits.MentionEveryone |
  PermissionFlagsBits.SendTTSMessages |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.EmbedLinks;
/** The permissions of both participants of a DM, which has no roles. */
const DM_PERMISSIONS =
  ViewChannel |
  SendMessages |
  ReadMessageHistory |
  PermissionFlagsBits.AddReactions |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.EmbedLinks |
  PermissionFlagsBits.UseExternalEmojis |
  PermissionFlagsBits.UseApplicationCommands |
  PermissionFlagsBits.PinMessages;

/** The permissions of a member's roles in the guild. See https://discord.com/developers/docs/topics/permissions */
export function guildPermissions(member: LocalMember, now: number): bigint {
  const { guild } = member;
  if (guild.ownerId === member.user.id) return ALL_PERMISSIONS;
  let bits = guild.everyone.permissions;
  for (const role of member.roles) bits |= role.permissions;
  if (bits & Administrator) return ALL_PERMISSIONS;
  return isTimedOut(member, now) ? bits & WHILE_TIMED_OUT : bits;
}

/** The permissions of a user in a channel; 0 for a user who is not a member. */
export function channelPermissions(channel: LocalChannel, user: LocalUser, now: number): bigint {
  if (!channel.guild) return channel.recipients.includes(user) ? DM_PERMISSIONS : 0n;
  const member = channel.guild.members.get(user.id);
  if (!member) return 0n;
  const base = guildPermissions(member, now);
  if (base === ALL_PERMISSIONS) return base;
  const place = channel.isThread ? (channel.parent ?? channel) : channel;
  let bits = applyOverwrites(base, place, member);
  if (!(bits & ViewChannel)) return 0n;
  if (channel.isThread) bits = bits & SendMessagesInThreads ? bits | SendMessages : bits & ~SendMessages;
  if (!(bits & SendMessages)) bits &= ~NEEDS_SENDING;
  return isTimedOut(member, now) ? bits & WHILE_TIMED_OUT : bits;
}

function applyOverwrites(base: bigint, channel: LocalChannel, member: LocalMember): bigint {
  let bits = base;
  const everyone = channel.overwrites.get(member.guild.id);
  if (everyone) bits = (bits & ~everyone.deny) | everyone.allow;
  let allow = 0n;
  let deny = 0n;
  for (const role of member.roles) {
    const overwrite = channel.overwrites.get(role.id);
    if (!overwrite) continue;
    allow |= overwrite.allow;
    deny |= overwrite.deny;
  }
  bits = (bits & ~deny) | allow;
  const own = channel.overwrites.get(member.user.id);
  return own ? (bits & ~own.deny) | own.allow : bits;
}

function isTimedOut(member: LocalMember, now: number): boolean {
  return member.timedOutUntil !== null && member.timedOutUntil > now;
}

/** Whether the user can see the channel. A private thread is visible to its members and to moderators. */
export function canView(channel: LocalChannel, user: LocalUser, now: number): boolean {
  const bits = channelPermissions(channel, user, now);
  if (!(bits & ViewChannel)) return false;
  const secret = channel.thread && !channel.thread.members.has(user.id) && isPrivate(channel);
  return !secret || Boolean(bits & PermissionFlagsBits.ManageThreads);
}

function isPrivate(channel: LocalChannel): boolean {
  return channel.type === ChannelType.PrivateThread;
}

export function hasChannelPermission(
  channel: LocalChannel,
  user: LocalUser,
  now: number,
  name: PermissionName,
): boolean {
  const wanted = PermissionFlagsBits[name];
  return (channelPermissions(channel, user, now) & wanted) === wanted;
}

/** @throws 50001 when the user cannot see the channel, 50013 when one of the permissions is missing there */
export function requireInChannel(
  channel: LocalChannel,
  user: LocalUser,
  now: number,
  ...names: PermissionName[]
): void {
  if (!canView(channel, user, now)) throw discordError('missingAccess');
  for (const name of names) {
    if (!hasChannelPermission(channel, user, now, name)) throw discordError('missingPermissions');
  }
}

/** The user's membership. @throws 10004 for a user who is not in the guild (Discord hides it from them) */
function memberOf(guild: LocalGuild, user: LocalUser): LocalMember {
  const member = guild.members.get(user.id);
  if (!member) throw discordError('unknownGuild');
  return member;
}

/** @throws 50013 unless the user has all the permissions in the guild */
export function requireInGuild(
  guild: LocalGuild,
  user: LocalUser,
  now: number,
  ...names: PermissionName[]
): LocalMember {
  const member = memberOf(guild, user);
  const bits = guildPermissions(member, now);
  for (const name of names) {
    if (!(bits & PermissionFlagsBits[name])) throw discordError('missingPermissions');
  }
  return member;
}

/** Compares roles: the higher position ranks higher, then the older id. */
function compareRoles(a: LocalRole, b: LocalRole): number {
  return a.position - b.position || Number(BigInt(b.id) - BigInt(a.id));
}

/** The highest role of a member; @everyone when they have no other. */
function highestRole(member: LocalMember): LocalRole {
  let highest = member.guild.everyone;
  for (const role of member.roles) if (compareRoles(role, highest) > 0) highest = role;
  return highest;
}

/** @throws 50013 unless the actor is above the role (or owns the guild) */
export function requireAboveRole(actor: LocalMember, role: LocalRole): void {
  if (actor.guild.ownerId === actor.user.id) return;
  if (compareRoles(highestRole(actor), role) <= 0) throw discordError('missingPermissions');
}

/** @throws 50013 unless the actor may kick, ban, rename or time out the target. No member ranks above the guild's owner */
export function requireAbove(actor: LocalMember, target: LocalMember): void {
  if (actor === target) return;
  if (actor.guild.ownerId === target.user.id) throw discordError('missingPermissions');
  requireAboveRole(actor, highestRole(target));
}
