import { discordError, invalidForm } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { userPayload } from '../payload/user.js';
import { requireAbove, requireAboveRole } from '../rules/hierarchy.js';
import type { PermissionName } from '../rules/permission-names.js';
import { requireInGuild } from '../rules/permissions.js';
import type { LocalGuild } from '../state/guild.js';
import type { LocalMember } from '../state/member.js';
import type { LocalRole } from '../state/role.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import { deleteMessage } from './delete-message.js';
import { announceMember, removeMember } from './members.js';

const LONGEST_TIMEOUT_MS = 28 * 24 * 60 * 60_000;

export interface MemberChanges {
  nick?: string | null | undefined;
  roles?: readonly LocalRole[] | undefined;
  /** Milliseconds since 1970; null ends it. */
  timedOutUntil?: number | null | undefined;
  mute?: boolean | undefined;
  deaf?: boolean | undefined;
}

/** Changes a member, with the permission and the rank that each change needs. @throws 50013, 50035 */
export function editMember(world: World, actor: LocalUser, member: LocalMember, changes: MemberChanges): void {
  const { guild } = member;
  const own = member.user === actor;
  const need = (name: PermissionName) => requireInGuild(guild, actor, world.clock.now(), name);
  if (changes.nick !== undefined) {
    const by = need(own ? 'ChangeNickname' : 'ManageNicknames');
    requireAbove(by, member);
  }
  if (changes.timedOutUntil !== undefined) {
    requireAbove(need('ModerateMembers'), member);
    checkTimeout(world, changes.timedOutUntil);
  }
  if (changes.mute !== undefined) need('MuteMembers');
  if (changes.deaf !== undefined) need('DeafenMembers');
  if (changes.roles) {
    const by = need('ManageRoles');
    const before = member.roles;
    const after = new Set(changes.roles);
    for (const role of [...before, ...after]) if (before.has(role) !== after.has(role)) requireAboveRole(by, role);
    member.roles.clear();
    for (const role of after) member.roles.add(role);
  }
  if (changes.nick !== undefined) member.nick = changes.nick || null;
  if (changes.timedOutUntil !== undefined) member.timedOutUntil = changes.timedOutUntil;
  member.mute = changes.mute ?? member.mute;
  member.deaf = changes.deaf ?? member.deaf;
  announceMember(world, member);
}

function checkTimeout(world: World, until: number | null): void {
  if (until === null || until - world.clock.now() <= LONGEST_TIMEOUT_MS) return;
  throw invalidForm({
    path: ['communication_disabled_until'],
    code: 'COMMUNICATION_DISABLED_UNTIL_TOO_LONG',
    message: 'Communication cannot be disabled for more than 28 days',
  });
}

export function kickMember(world: World, actor: LocalUser, member: LocalMember): void {
  requireAbove(requireInGuild(member.guild, actor, world.clock.now(), 'KickMembers'), member);
  removeMember(world, member);
}

/** Bans a user, member or not, and deletes what they wrote in the last seconds. @throws 50013 */
export function banUser(
  world: World,
  actor: LocalUser,
  guild: LocalGuild,
  user: LocalUser,
  reason: string | null,
  deleteSeconds: number,
): void {
  const by = requireInGuild(guild, actor, world.clock.now(), 'BanMembers');
  const member = guild.members.get(user.id);
  if (member) {
    requireAbove(by, member);
    removeMember(world, member);
  }
  guild.bans.set(user.id, { user, reason });
  broadcast(world, 'GUILD_BAN_ADD', { guild }, { guild_id: guild.id, user: userPayload(user) });
  const since = world.clock.now() - deleteSeconds * 1_000;
  for (const channel of [...guild.channels.values(), ...guild.threads.values()]) {
    for (const message of channel.messages) {
      if (deleteSeconds > 0 && message.author === user && message.createdAt >= since) deleteMessage(world, message);
    }
  }
}

/** @throws 50013, 10026 */
export function unbanUser(world: World, actor: LocalUser, guild: LocalGuild, userId: string): void {
  requireInGuild(guild, actor, world.clock.now(), 'BanMembers');
  const ban = guild.bans.get(userId);
  if (!ban) throw discordError('unknownBan');
  guild.bans.delete(userId);
  broadcast(world, 'GUILD_BAN_REMOVE', { guild }, { guild_id: guild.id, user: userPayload(ban.user) });
}
