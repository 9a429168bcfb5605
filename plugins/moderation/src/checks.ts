import {
  type Actor,
  CinnabarError,
  type ModerationAct,
  type ModerationRequest,
  nameText,
  permissionName,
  ranksIn,
  requireAboveMember,
  t,
  UserError,
  unlessUnreachable,
} from '@cinnabar/sdk';
import type { Guild, GuildMember, User } from 'discord.js';
import { banOf } from './evidence.js';
import {
  LONGEST_REASON,
  LONGEST_TEMPBAN_MS,
  LONGEST_TIMEOUT_MS,
  type ModerationContext,
  NEEDED,
  PLUGIN,
} from './settings.js';
import type { TemporaryBans } from './temporary-bans.js';

/**
 * A request within this plugin.
 * `because` is the number of the warning that caused it.
 */
export interface Ask extends ModerationRequest {
  readonly because?: number;
}

/** The target of an action, with Discord's current data. */
export interface Target {
  readonly guild: Guild;
  readonly user: User;
  /** `undefined` when they are not in the guild. */
  readonly member: GuildMember | undefined;
}

const OF_MEMBERS: ReadonlySet<ModerationAct> = new Set(['warn', 'timeout', 'untimeout', 'kick', 'softban']);

function checkDuration(act: 'timeout' | 'tempban', durationMs: number | undefined): void {
  if (durationMs === undefined || durationMs < 1_000) throw new UserError(t('Say for how long, such as `10m`.'));
  if (durationMs <= (act === 'timeout' ? LONGEST_TIMEOUT_MS : LONGEST_TEMPBAN_MS)) return;
  throw new UserError(
    act === 'timeout'
      ? t('Discord has time-outs of at most 28 days. For longer, use `tempban`.')
      : t('A temporary ban lasts at most five years. For longer, use `ban`.'),
  );
}

/** Creates the check of all obstacles to an action: called before a member confirms it, and again before it is carried out. */
export function createCheck({ client, settings, services }: ModerationContext, temporaryBans: TemporaryBans) {
  const { access, clock } = services;

  const checkValues = async ({ act, guildId, reason, actor, durationMs }: Ask) => {
    if (act === 'timeout' || act === 'tempban') checkDuration(act, durationMs);
    if ((reason?.length ?? 0) > LONGEST_REASON) {
      throw new UserError(t('A reason has at most {most, number} characters.', { most: LONGEST_REASON }));
    }
    const isMissing = actor !== undefined && (reason ?? '').trim() === '';
    if (isMissing && (await settings.guild(guildId).get()).requireReason) {
      throw new UserError(t('This server wants a reason for that. Put it at the end.'));
    }
  };

  const checkRights = async (guild: Guild, { act, actor }: Ask) => {
    const permission = NEEDED[act];
    const me = guild.members.me ?? (await guild.members.fetchMe());
    if (act !== 'warn' && !me.permissions.has(permission)) {
      const name = permissionName(permission);
      throw new UserError(
        t('I lack the permission {name}. Give it to my role in the settings of the server.', { name }),
      );
    }
    if (actor === undefined) return;
    const decision = await access.decide(actor, {
      kind: 'command',
      name: act,
      plugin: PLUGIN,
      policy: { tier: 'mod', member: [permission], where: 'guild' },
    });
    if (!decision.allowed) {
      const reasons = decision.reasons.filter(({ allowed }) => !allowed).map(({ text }) => text);
      throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: reasons.join('; ') });
    }
  };

  const checkRank = async (guild: Guild, actor: Actor | undefined, member: GuildMember) => {
    const ranks = actor === undefined ? { bot: await guild.members.fetchMe() } : await ranksIn(guild, actor);
    requireAboveMember(ranks, member);
  };

  const checkState = async ({ guild, user, member }: Target, { act }: Ask) => {
    const name = nameText(member?.displayName ?? user.displayName);
    if (act === 'timeout' && member?.permissions.has('Administrator') === true) {
      throw new UserError(t('{name} is an administrator: Discord does not put those in time-out.', { name }));
    }
    if (act === 'untimeout' && (member?.communicationDisabledUntilTimestamp ?? 0) <= clock.now()) {
      throw new UserError(t('{name} is not in time-out.', { name }));
    }
    if (act !== 'ban' && act !== 'tempban' && act !== 'unban') return;
    const ban = await banOf(guild, user.id);
    if (act === 'unban' && ban === undefined) throw new UserError(t('{name} is not banned.', { name }));
    if (act === 'unban' || ban === undefined) return;
    // A temporary ban can be made permanent.
    if (act === 'ban' && temporaryBans.of(guild.id, user.id) !== undefined) return;
    throw new UserError(t('{name} is banned already. `unban` lifts it.', { name }));
  };

  /** Resolves with the target. @throws UserError with the obstacle */
  return async (ask: Ask): Promise<Target> => {
    const { act, guildId, userId, actor } = ask;
    const guild = client.guilds.cache.get(guildId);
    if (guild === undefined) throw new UserError(t('This only works in a server that I am in.'));
    if (userId === client.user?.id) throw new UserError(t('I cannot do that to myself.'));
    if (userId === actor?.userId && act !== 'untimeout') throw new UserError(t('You cannot do that to yourself.'));
    await checkValues(ask);
    const member = await unlessUnreachable(guild.members.fetch({ user: userId, force: true }));
    if (member === undefined && OF_MEMBERS.has(act)) {
      throw new UserError(
        t('They are not a member of this server. To ban a user who is not here, use `ban` with their id.'),
      );
    }
    const user = member?.user ?? (await unlessUnreachable(client.users.fetch(userId)));
    if (user === undefined) throw new UserError(t('There is no user with that id.'));
    await checkRights(guild, ask);
    if (member !== undefined) await checkRank(guild, actor, member);
    await checkState({ guild, user, member }, ask);
    return { guild, user, member };
  };
}
