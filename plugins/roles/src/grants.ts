import {
  type Actor,
  asNotice,
  auditReason,
  createKeyedMutex,
  createRateLimiter,
  findSendableIn,
  isAbove,
  isTransient,
  nameText,
  permissionName,
  ranksIn,
  requireAboveRole,
  requireTierOfRole,
  t,
  UserError,
  unlessUnreachable,
  withRefusalSentences,
} from '@cinnabar/sdk';
import { type Guild, type GuildMember, PermissionsBitField, type PermissionsString, type Role } from 'discord.js';
import { ID, LIMITS, type RoleChange, type RolesContext } from './context.js';

/** Permissions with which a member can harm a server or its members. */
const DANGEROUS = new PermissionsBitField([
  'Administrator',
  'ManageGuild',
  'ManageRoles',
  'ManageChannels',
  'ManageWebhooks',
  'ManageMessages',
  'ManageThreads',
  'ManageNicknames',
  'ManageEvents',
  'ManageGuildExpressions',
  'BanMembers',
  'KickMembers',
  'ModerateMembers',
  'MuteMembers',
  'DeafenMembers',
  'MoveMembers',
  'MentionEveryone',
  'ViewAuditLog',
]);
type StaffTier = 'mod' | 'admin';
/** A dangerous permission, or the bot's tier (moderator, admin) that the role gives its members. */
export type Danger = PermissionsString | StaffTier;
/** A problem of a guild is reported at most once in this time. */
const REPORT_EVERY_MS = 3_600_000;

export type Grants = ReturnType<typeof createGrants>;

/** Gives and takes roles. Decides which roles may be given at all, and changes a member's roles one after another. */
export function createGrants({ client, collections, settings, services, log }: RolesContext) {
  const mutex = createKeyedMutex();
  const reports = createRateLimiter(services.clock, REPORT_EVERY_MS, 1_000);

  /** The dangers of a role that the guild's owner has not confirmed. */
  async function dangersOf(role: Role): Promise<readonly Danger[]> {
    const { permissions, tiers } = await powersOf(role);
    if (permissions === 0n && tiers.length === 0) return [];
    const { roles } = await collections.confirmed.of(role.guild).get();
    const confirmed = roles.find(({ roleId }) => roleId === role.id);
    return [
      ...new PermissionsBitField(permissions & ~BigInt(confirmed?.permissions ?? 0)).toArray(),
      ...tiers.filter((tier) => confirmed?.tiers?.includes(tier) !== true),
    ];
  }

  /** The dangerous permissions that a role gives on Discord, and its tiers in the bot: a moderator or admin role may have no permissions on Discord. */
  async function powersOf({ guild, id, permissions }: Role) {
    const { tierRoles } = services;
    const tiers: StaffTier[] = [];
    for (const tier of ['mod', 'admin'] as const) {
      if ((await tierRoles.list(guild.id, tier)).includes(id)) tiers.push(tier);
    }
    return { permissions: permissions.bitfield & DANGEROUS.bitfield, tiers };
  }

  /** Why the bot cannot give or take a role now, and how to correct that; `undefined` if it can. */
  async function obstacleTo(guild: Guild, roleId: string, change: 'give' | 'take'): Promise<string | undefined> {
    const role = guild.roles.cache.get(roleId);
    if (role === undefined) return t('That role does not exist any more.');
    const name = nameText(role.name);
    const me = guild.members.me ?? (await guild.members.fetchMe());
    if (!me.permissions.has('ManageRoles'))
      return t(
        'I can give and take no roles: I lack the permission Manage Roles. An admin of this server can give it to me.',
      );
    if (role.managed)
      return t('The role {name} belongs to a bot or an integration: it cannot be given away.', { name });
    if (!isAbove(me, role))
      return t(
        'I cannot give or take the role {name}: it is not below my highest role. An admin can move my role above it.',
        { name },
      );
    const dangers = change === 'give' ? await dangersOf(role) : [];
    if (dangers.length === 0) return undefined;
    return t(
      'I do not give the role {name} away: it has {permissions}, which the owner of this server has not confirmed.',
      {
        name,
        permissions: namesOf(dangers),
      },
    );
  }

  async function requireNoObstacle(guild: Guild, { give, take }: RoleChange): Promise<void> {
    const wanted = [...give.map((id) => [id, 'give'] as const), ...take.map((id) => [id, 'take'] as const)];
    for (const [roleId, change] of wanted) {
      const obstacle = await obstacleTo(guild, roleId, change);
      if (obstacle !== undefined) throw new Obstacle(obstacle);
    }
  }

  /** Changes roles; changes none if any of them cannot be changed. */
  async function carryOut(member: GuildMember, change: RoleChange, reason: string): Promise<void> {
    await requireNoObstacle(member.guild, change);
    await withRefusalSentences(async () => {
      // One request per role, because setting the whole list would overwrite concurrent changes by others.
      for (const roleId of change.take) await member.roles.remove(roleId, reason);
      for (const roleId of change.give) await member.roles.add(roleId, reason);
    });
  }

  return {
    dangersOf,
    obstacleTo,

    /**
     * Checks that an admin may have the bot give a role.
     * @returns its dangers, which the owner of the guild has to confirm first
     * @throws UserError if the role is not below the admin and the bot, or cannot be given to members
     */
    async checkOffer(role: Role, actor: Actor): Promise<readonly Danger[]> {
      if (role.managed || role.id === role.guild.id)
        throw new UserError(t('That role belongs to a bot, or to everyone: it cannot be given away.'));
      requireAboveRole(await ranksIn(role.guild, actor), role);
      return dangersOf(role);
    },

    /** Whether a member may let the bot give roles. */
    async mayOffer(actor: Actor, name: string): Promise<boolean> {
      const policy = { tier: 'admin', member: ['ManageRoles'] } as const;
      return (await services.access.decide(actor, { kind: 'tool', name, plugin: ID, policy })).allowed;
    },

    /** Records that the guild's owner allows the bot to give the role with its current permissions. */
    async confirm(role: Role): Promise<void> {
      const { permissions, tiers } = await powersOf(role);
      await collections.confirmed.of(role.guild).update((draft) => {
        const others = draft.roles.filter(({ roleId }) => roleId !== role.id);
        draft.roles = [...others, { roleId: role.id, permissions: `${permissions}`, tiers }];
      });
    },

    /**
     * Changes a member's roles. Changes of one member run one after another, each from the roles at that moment.
     * @param plan computes the change from the ids of the roles that the member has
     * @throws UserError when Discord or the plan refuses; an `Obstacle` when the bot cannot do it
     */
    change(
      guild: Guild,
      userId: string,
      plan: (held: ReadonlySet<string>, member: GuildMember) => RoleChange,
      reason: string,
    ): Promise<RoleChange> {
      return mutex.run(`${guild.id}:${userId}`, async () => {
        const member = await unlessUnreachable(guild.members.fetch({ user: userId, force: true }));
        if (member === undefined) throw new UserError(t('That user is not a member of this server.'));
        const change = plan(new Set(member.roles.cache.keys()), member);
        await carryOut(member, change, reason);
        return change;
      });
    },

    /** Gives a role to a member or takes it, for a moderator. @throws UserError */
    async changeFor(actor: Actor, member: GuildMember, role: Role, change: 'give' | 'take'): Promise<void> {
      requireAboveRole(await ranksIn(role.guild, actor), role);
      if (role.managed) throw new UserError(t('That role belongs to a bot, or to everyone: it cannot be given away.'));
      await requireTierOfRole(services, actor, role);
      await withRefusalSentences(() =>
        member.roles[change === 'give' ? 'add' : 'remove'](role, auditReason(client, actor, undefined)),
      );
    },

    /** Reports to a guild's admins what prevents the bot from giving roles: in the log and, if one is set, in their channel, each at most once an hour. */
    async report(guild: Guild, sentence: string): Promise<void> {
      if (reports.take(`${guild.id}:${sentence}`, 1) !== undefined) return;
      log.warn('a role was not given', { guildId: guild.id, reason: sentence });
      const { reportChannel } = await settings.guild(guild).get();
      const channel = reportChannel === undefined ? undefined : await findSendableIn(client, guild.id, reportChannel);
      if (channel === undefined) return;
      const sent = channel.send({ content: asNotice(sentence), allowedMentions: { parse: [] } });
      await sent.catch((error: unknown) => log.warn('a report could not be posted', { guildId: guild.id, error }));
    },
  };
}

/** Why the bot cannot change roles at all; admins have to correct it, not the member. */
export class Obstacle extends UserError {}

/** `Ban Members, Manage Messages` in the current language. */
export const namesOf = (dangers: readonly Danger[]): string => dangers.map(nameOf).join(', ');

function nameOf(danger: Danger): string {
  if (danger === 'mod') return t('the rights of my moderators');
  return danger === 'admin' ? t('the rights of my admins') : permissionName(danger);
}

/** Gives new members and bots the roles that admins have chosen; after the membership screening, if the guild's settings say so. */
export function watchJoins({ on, ready, client, settings, collections, log }: RolesContext, grants: Grants): void {
  /** Members who have not passed the screening, by guild: a copy of the stored list, because every update of a member reads it. */
  const waiting = new Map<string, Promise<Set<string>>>();
  const waitingIn = (guild: Guild): Promise<Set<string>> => {
    const known = waiting.get(guild.id) ?? load(guild);
    waiting.set(guild.id, known);
    known.catch(() => waiting.delete(guild.id));
    return known;
  };
  const load = async (guild: Guild) =>
    new Set((await collections.waiting.of(guild).get()).members.map(({ userId }) => userId));

  const changeWaiting = async (guild: Guild, change: (ids: Set<string>) => void): Promise<void> => {
    const { members } = await collections.waiting.of(guild).update((draft) => {
      const ids = new Set(draft.members.map(({ userId }) => userId));
      change(ids);
      // In a raid the oldest entries are dropped; those members get no roles after the screening.
      draft.members = [...ids].slice(-LIMITS.waiting).map((userId) => ({ userId }));
    });
    waiting.set(guild.id, Promise.resolve(new Set(members.map(({ userId }) => userId))));
  };

  const give = async (member: GuildMember): Promise<void> => {
    const { joinRoles, botRoles } = await settings.guild(member.guild).get();
    for (const roleId of member.user.bot ? botRoles : joinRoles) {
      try {
        const plan = (held: ReadonlySet<string>) => ({ give: held.has(roleId) ? [] : [roleId], take: [] });
        await grants.change(member.guild, member.id, plan, 'role for new members');
      } catch (error) {
        if (error instanceof Obstacle) await grants.report(member.guild, error.message);
        else if (error instanceof UserError)
          log.info('a new member got no role', { guildId: member.guild.id, reason: error.message });
        else throw error;
      }
    }
  };

  on('guildMemberAdd', async (member) => {
    const { joinRoles, botRoles, afterScreening } = await settings.guild(member.guild).get();
    if ((member.user.bot ? botRoles : joinRoles).length === 0) return;
    if (member.user.bot || !afterScreening || !member.pending) return give(member);
    await changeWaiting(member.guild, (ids) => ids.add(member.id));
  });

  on('guildMemberUpdate', async (_before, member) => {
    if (member.pending || !(await waitingIn(member.guild)).has(member.id)) return;
    // After the role: if the process ends in between, it is given again, which changes nothing. A role that the bot may not give is reported to the server.
    await give(member);
    await changeWaiting(member.guild, (ids) => ids.delete(member.id));
  });

  on('guildMemberRemove', async ({ guild, id }) => {
    if ((await waitingIn(guild)).has(id)) await changeWaiting(guild, (ids) => ids.delete(id));
  });

  // Handles members who passed the screening, or left, while the bot was offline.
  ready(async () => {
    for await (const [guildId, { members }] of collections.waiting.entries()) {
      const guild = client.guilds.cache.get(guildId);
      if (guild === undefined) continue;
      for (const { userId } of members) {
        const member = await guild.members.fetch({ user: userId, force: true }).catch((error: unknown) => {
          if (isTransient(error)) throw error;
          return undefined;
        });
        if (member?.pending === true) continue;
        if (member !== undefined) await give(member);
        await changeWaiting(guild, (ids) => ids.delete(userId));
      }
    }
  });
}
