import { type APIAuditLogChange, AuditLogEvent } from 'discord-api-types/v10';
import { z } from 'zod';
import { discordError, invalidForm } from '../errors.js';
import { announceGuild, announceLoss, broadcast, receivingSessions } from '../gateway/dispatch.js';
import { isoTimeOrNull, memberPayload, userPayload } from '../payload/users.js';
import { imageData, imageHash, snowflake } from '../rest/message-form.js';
import { numberIn, type RestContext, route } from '../rest/request.js';
import type { PermissionName } from '../rules/permission-names.js';
import { requireAbove, requireAboveRole, requireInGuild } from '../rules/permissions.js';
import { compareIds } from '../snowflakes.js';
import type { LocalApplication } from '../state/applications.js';
import type { JoinOptions, LocalGuild, LocalMember, LocalRole } from '../state/guilds.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { recordAct } from './audit-log.js';
import { findMember, findRole, findUser, guildOf, memberOf } from './find.js';
import { deleteMessage } from './message-changes.js';

/** Makes a user a member; no effect for a member. */
export function addMember(world: World, guild: LocalGuild, user: LocalUser, options: JoinOptions = {}): LocalMember {
  const present = guild.members.get(user.id);
  if (present) return present;
  const member: LocalMember = {
    user,
    guild,
    nick: options.nick ?? null,
    roles: new Set(options.roles ?? []),
    joinedAt: world.clock.now(),
    avatar: null,
    timedOutUntil: null,
    deaf: false,
    mute: false,
    pending: options.pending ?? false,
  };
  guild.members.set(user.id, member);
  broadcast(world, 'GUILD_MEMBER_ADD', { guild }, { ...memberPayload(member), guild_id: guild.id });
  world.notify({ type: 'memberJoin', guild, user });
  return member;
}

/** Makes a bot a member: its sessions receive GUILD_CREATE. */
export function addBot(
  world: World,
  guild: LocalGuild,
  application: LocalApplication,
  roles: readonly LocalRole[],
): LocalMember {
  const member = addMember(world, guild, application.user, { roles });
  announceGuild(world, guild, application);
  return member;
}

/** Removes a member (left, kicked or banned); a bot's sessions receive GUILD_DELETE. */
export function removeMember(world: World, member: LocalMember): void {
  const { guild, user } = member;
  guild.members.delete(user.id);
  for (const thread of guild.threads.values()) thread.thread?.members.delete(user.id);
  broadcast(world, 'GUILD_MEMBER_REMOVE', { guild }, { guild_id: guild.id, user: userPayload(user) });
  const application = world.applications.get(user.id);
  if (application) {
    application.guildCommands.delete(guild.id);
    announceLoss(world, guild, application);
  }
  world.notify({ type: 'memberLeave', guild, user });
}

/** Sends GUILD_MEMBER_UPDATE. A bot receives changes of itself with any intents. */
export function announceMember(world: World, member: LocalMember): void {
  const { guild, user } = member;
  const payload = JSON.stringify({ ...memberPayload(member), guild_id: guild.id });
  const receiving = new Set(receivingSessions(world, 'GUILD_MEMBER_UPDATE', { guild }));
  const application = world.applications.get(user.id);
  if (application)
    for (const own of receivingSessions(world, 'USER_UPDATE', { application, guild })) receiving.add(own);
  for (const session of receiving) session.dispatch('GUILD_MEMBER_UPDATE', payload);
  world.notify({ type: 'memberEdit', guild, user });
}

const LONGEST_TIMEOUT_MS = 28 * 24 * 60 * 60_000;

interface MemberChanges {
  nick?: string | null | undefined;
  roles?: readonly LocalRole[] | undefined;
  /** Milliseconds since 1970; null ends it. */
  timedOutUntil?: number | null | undefined;
  mute?: boolean | undefined;
  deaf?: boolean | undefined;
}

/** Changes a member, with the permission and role hierarchy that each change needs. @throws 50013, 50035 */
export function editMember(
  world: World,
  actor: LocalUser,
  member: LocalMember,
  changes: MemberChanges,
  reason?: string,
): void {
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
  const before = { nick: member.nick, timedOutUntil: member.timedOutUntil, roles: [...member.roles] };
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
  recordMemberChange(world, actor, member, before, reason);
}

function recordMemberChange(
  world: World,
  actor: LocalUser,
  { guild, user, nick, timedOutUntil, roles }: LocalMember,
  before: Pick<LocalMember, 'nick' | 'timedOutUntil'> & { readonly roles: readonly LocalRole[] },
  reason: string | undefined,
): void {
  const changes: APIAuditLogChange[] = [];
  if (nick !== before.nick) changes.push({ key: 'nick', ...valuesOf(before.nick, nick) });
  if (timedOutUntil !== before.timedOutUntil) {
    const values = valuesOf(isoTimeOrNull(before.timedOutUntil), isoTimeOrNull(timedOutUntil));
    changes.push({ key: 'communication_disabled_until', ...values });
  }
  if (changes.length > 0)
    recordAct(world, guild, actor, AuditLogEvent.MemberUpdate, { targetId: user.id, reason, changes });
  const added = [...roles].filter((role) => !before.roles.includes(role));
  const removed = before.roles.filter((role) => !roles.has(role));
  recordRoles(world, actor, guild, user, { added, removed }, reason);
}

function recordRoles(
  world: World,
  actor: LocalUser,
  guild: LocalGuild,
  user: LocalUser,
  { added, removed }: { readonly added: readonly LocalRole[]; readonly removed: readonly LocalRole[] },
  reason: string | undefined,
): void {
  const listed = (roles: readonly LocalRole[]) => roles.map(({ id, name }) => ({ id, name }));
  const changes: APIAuditLogChange[] = [
    ...(added.length === 0 ? [] : [{ key: '$add' as const, new_value: listed(added) }]),
    ...(removed.length === 0 ? [] : [{ key: '$remove' as const, new_value: listed(removed) }]),
  ];
  if (changes.length > 0)
    recordAct(world, guild, actor, AuditLogEvent.MemberRoleUpdate, { targetId: user.id, reason, changes });
}

/** Discord omits values that are not set. */
function valuesOf(old: string | null, now: string | null): { old_value?: string; new_value?: string } {
  return { ...(old === null ? {} : { old_value: old }), ...(now === null ? {} : { new_value: now }) };
}

function checkTimeout(world: World, until: number | null): void {
  if (until === null || until - world.clock.now() <= LONGEST_TIMEOUT_MS) return;
  throw invalidForm({
    path: ['communication_disabled_until'],
    code: 'COMMUNICATION_DISABLED_UNTIL_TOO_LONG',
    message: 'Communication cannot be disabled for more than 28 days',
  });
}

export function kickMember(world: World, actor: LocalUser, member: LocalMember, reason?: string): void {
  requireAbove(requireInGuild(member.guild, actor, world.clock.now(), 'KickMembers'), member);
  removeMember(world, member);
  recordAct(world, member.guild, actor, AuditLogEvent.MemberKick, { targetId: member.user.id, reason });
}

/** Bans a user, member or not, and deletes their messages of the last seconds. @throws 50013 */
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
  recordAct(world, guild, actor, AuditLogEvent.MemberBanAdd, { targetId: user.id, reason: reason ?? undefined });
  const since = world.clock.now() - deleteSeconds * 1_000;
  for (const channel of [...guild.channels.values(), ...guild.threads.values()]) {
    for (const message of channel.messages) {
      if (deleteSeconds > 0 && message.author === user && message.createdAt >= since) deleteMessage(world, message);
    }
  }
}

/** @throws 50013, 10026 */
export function unbanUser(world: World, actor: LocalUser, guild: LocalGuild, userId: string, reason?: string): void {
  requireInGuild(guild, actor, world.clock.now(), 'BanMembers');
  const ban = guild.bans.get(userId);
  if (!ban) throw discordError('unknownBan');
  guild.bans.delete(userId);
  broadcast(world, 'GUILD_BAN_REMOVE', { guild }, { guild_id: guild.id, user: userPayload(ban.user) });
  recordAct(world, guild, actor, AuditLogEvent.MemberBanRemove, { targetId: userId, reason });
}

const memberForm = z.object({
  nick: z.string().max(32).nullish(),
  roles: z.array(snowflake).nullish(),
  communication_disabled_until: z.string().nullish(),
  mute: z.boolean().nullish(),
  deaf: z.boolean().nullish(),
});
const ownForm = z.object({ nick: z.string().max(32).nullish(), avatar: imageData.nullish() });

function changeRole(context: RestContext, change: 'add' | 'delete'): undefined {
  const guild = guildOf(context);
  const actor = requireInGuild(guild, context.user, context.world.clock.now(), 'ManageRoles');
  const role = findRole(guild, context.param('roleId'));
  requireAboveRole(actor, role);
  const member = memberOf(context);
  const had = member.roles.has(role);
  member.roles[change](role);
  announceMember(context.world, member);
  if (had === (change === 'delete')) {
    const changed = { added: change === 'add' ? [role] : [], removed: change === 'add' ? [] : [role] };
    recordRoles(context.world, context.user, guild, member.user, changed, context.reason);
  }
}

export const memberRoutes = [
  route('GET', '/guilds/:guildId/members', (context) => {
    const after = context.query.get('after') ?? '0';
    const limit = numberIn(context.query, 'limit', 1, 1_000, 1);
    return [...guildOf(context).members.values()]
      .filter((member) => compareIds(member.user.id, after) > 0)
      .sort((a, b) => compareIds(a.user.id, b.user.id))
      .slice(0, limit)
      .map(memberPayload);
  }),
  route('GET', '/guilds/:guildId/members/search', (context) => {
    const limit = numberIn(context.query, 'limit', 1, 1_000, 1);
    return byName([...guildOf(context).members.values()], context.query.get('query') ?? '', limit).map(memberPayload);
  }),
  route('GET', '/guilds/:guildId/members/:userId', (context) => memberPayload(memberOf(context))),
  route('PATCH', '/guilds/:guildId/members/@me', (context) => {
    const { nick, avatar } = context.form(ownForm);
    const member = findMember(guildOf(context), context.user.id);
    if (avatar !== undefined) member.avatar = avatar === null ? null : imageHash(avatar);
    editMember(context.world, context.user, member, { nick }, context.reason);
    return memberPayload(member);
  }),
  route('PATCH', '/guilds/:guildId/members/:userId', (context) => {
    const member = memberOf(context);
    const form = context.form(memberForm);
    const until = form.communication_disabled_until;
    editMember(
      context.world,
      context.user,
      member,
      {
        nick: form.nick,
        roles: form.roles?.map((id) => findRole(member.guild, id)),
        timedOutUntil: until === undefined || until === null ? until : Date.parse(until),
        mute: form.mute ?? undefined,
        deaf: form.deaf ?? undefined,
      },
      context.reason,
    );
    return memberPayload(member);
  }),
  route('PUT', '/guilds/:guildId/members/:userId/roles/:roleId', (context) => changeRole(context, 'add')),
  route('DELETE', '/guilds/:guildId/members/:userId/roles/:roleId', (context) => changeRole(context, 'delete')),
  route('DELETE', '/guilds/:guildId/members/:userId', (context) => {
    kickMember(context.world, context.user, memberOf(context), context.reason);
    return undefined;
  }),
];

const banForm = z.object({ delete_message_seconds: z.number().int().min(0).max(604_800).nullish() });

export const banRoutes = [
  route('GET', '/guilds/:guildId/bans', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'BanMembers');
    return [...guild.bans.values()].map(({ user, reason }) => ({ user: userPayload(user), reason }));
  }),
  route('GET', '/guilds/:guildId/bans/:userId', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'BanMembers');
    const ban = guild.bans.get(context.param('userId'));
    if (!ban) throw discordError('unknownBan');
    return { user: userPayload(ban.user), reason: ban.reason };
  }),
  route('PUT', '/guilds/:guildId/bans/:userId', (context) => {
    const { world, user, param, reason } = context;
    const { delete_message_seconds } = context.form(banForm);
    banUser(
      world,
      user,
      guildOf(context),
      findUser(world, param('userId')),
      reason ?? null,
      delete_message_seconds ?? 0,
    );
    return undefined;
  }),
  route('DELETE', '/guilds/:guildId/bans/:userId', (context) => {
    unbanUser(context.world, context.user, guildOf(context), context.param('userId'), context.reason);
    return undefined;
  }),
];

/** Members whose name or nickname begins with the text; a `limit` of 0 means all. */
export function byName(members: readonly LocalMember[], query: string, limit: number): LocalMember[] {
  const start = query.toLowerCase();
  const found = members.filter(({ user, nick }) =>
    [user.username, user.globalName, nick].some((name) => name?.toLowerCase().startsWith(start)),
  );
  return limit > 0 ? found.slice(0, limit) : found;
}
