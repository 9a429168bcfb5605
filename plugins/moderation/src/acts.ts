import {
  type Actor,
  asNotice,
  auditReason,
  createKeyedMutex,
  isRefusal,
  type Moderation,
  type ModerationAct,
  type ModerationCase,
  type ModerationRequest,
  refusalSentence,
  t,
  UserError,
  visible,
} from '@cinnabar/sdk';
import type { Guild } from 'discord.js';
import type { CaseLog, PostProblem } from './case-log.js';
import { memberNotice } from './case-text.js';
import { type Cases, crossedThreshold, pointsOf } from './cases.js';
import { type Ask, createCheck, type Target } from './checks.js';
import { banOf, caseTag, evidenceOf, liftBan } from './evidence.js';
import type { ModerationContext } from './settings.js';
import type { TemporaryBans } from './temporary-bans.js';

/** The result of an action on a member. */
export interface ActResult {
  readonly done: ModerationCase;
  /** Whether the member received the direct message; `undefined` when none was to be sent. */
  readonly told: boolean | undefined;
  readonly postProblem: PostProblem | undefined;
  /** The points of the member's active warnings, after a warning. */
  readonly points?: number;
  /** The result of the guild's rule for these points; a sentence when the rule's action could not be carried out. */
  readonly followed?: ActResult | string;
}

/** Actions about which the member gets a direct message while the bot shares the guild with them. */
const TOLD: ReadonlySet<ModerationAct> = new Set(['warn', 'timeout', 'kick', 'ban', 'tempban', 'softban']);

/** After these actions the bot may share no guild with the member, so the notice is sent before. For all others it is sent afterwards. */
const PARTING: ReadonlySet<ModerationAct> = new Set(['kick', 'ban', 'tempban', 'softban']);

const DAY_S = 86_400;
/** Discord's limit for the reason in an audit log. */
const LONGEST_AUDIT_REASON = 512;

/**
 * Carries out actions on members. Each is recorded as a case before it is done at Discord, and is done there at most once: after an interruption by a stop of
 * the bot, the outcome is looked up and the action never repeated.
 */
export function createActs(context: ModerationContext, cases: Cases, caseLog: CaseLog, temporaryBans: TemporaryBans) {
  const { client, settings, services, log } = context;
  const { clock, languages } = services;
  const check = createCheck(context, temporaryBans);
  const mutex = createKeyedMutex();

  const draftOf = async (ask: Ask, { user }: Target): Promise<Omit<ModerationCase, 'number'>> => {
    const { act, guildId, actor, durationMs, because } = ask;
    const reason = (ask.reason ?? '').trim();
    const at = clock.now();
    const { warnPoints } = await settings.guild(guildId).get();
    return {
      act,
      // A warning consists of the record only.
      state: act === 'warn' ? 'done' : 'pending',
      userId: user.id,
      userName: user.username,
      at,
      origin: actor === undefined ? 'rule' : 'bot',
      ...(actor === undefined ? {} : { moderatorId: actor.userId }),
      ...(reason === '' ? {} : { reason }),
      ...((act === 'timeout' || act === 'tempban') && durationMs !== undefined ? { until: at + durationMs } : {}),
      ...(act === 'warn' ? { points: ask.points ?? warnPoints } : {}),
      ...(because === undefined ? {} : { because }),
    };
  };

  /** The reason for Discord's audit log: the case, then the moderator, then the given reason. */
  const auditText = ({ number, reason }: ModerationCase, actor: Actor | undefined) => {
    const text = actor === undefined ? visible(reason ?? '') : auditReason(client, actor, reason);
    return `${caseTag(number)} ${text}`.trim().slice(0, LONGEST_AUDIT_REASON);
  };

  const tell = async (one: ModerationCase, { guild, user, member }: Target): Promise<boolean | undefined> => {
    if (!TOLD.has(one.act) || member === undefined || user.bot) return undefined;
    if (!(await settings.guild(guild).get()).tellMembers) return undefined;
    try {
      await languages.speak({ guildId: guild.id, userId: user.id }, () =>
        user.send(asNotice(memberNotice(one, guild.name))),
      );
      return true;
    } catch (error) {
      log.info('a member could not be told of a case', { guildId: guild.id, number: one.number, error });
      return false;
    }
  };

  /** Performs the action at Discord. */
  const carryOut = async (one: ModerationCase, ask: Ask, { guild, user, member }: Target): Promise<void> => {
    const reason = auditText(one, ask.actor);
    const { banDeleteDays } = await settings.guild(guild).get();
    const deleteMessageSeconds =
      (ask.deleteDays ?? (one.act === 'softban' ? Math.max(1, banDeleteDays) : banDeleteDays)) * DAY_S;
    switch (one.act) {
      case 'warn':
        return;
      case 'timeout':
        await member?.disableCommunicationUntil(one.until ?? null, reason);
        return;
      case 'untimeout':
        await member?.disableCommunicationUntil(null, reason);
        return;
      case 'kick':
        await member?.kick(reason);
        return;
      case 'softban':
        await guild.bans.create(user, { reason, deleteMessageSeconds });
        await liftBan(guild, user.id, reason);
        return;
      case 'ban':
      case 'tempban':
        // A temporary ban that becomes permanent exists already.
        if ((await banOf(guild, user.id)) === undefined)
          await guild.bans.create(user, { reason, deleteMessageSeconds });
        return;
      case 'unban':
        await liftBan(guild, user.id, reason);
    }
  };

  /** Records the result of an action. */
  const settle = async (guildId: string, one: ModerationCase, state: ModerationCase['state'], note?: string) =>
    (await cases.change(guildId, one.number, (draft) => {
      draft.state = state;
      if (note !== undefined) draft.note = note;
    })) ?? { ...one, state };

  /** Records the result of an action whose request to Discord failed. @throws UserError unless the action was carried out */
  const failed = async (error: unknown, one: ModerationCase, guild: Guild): Promise<ModerationCase> => {
    const sentence = refusalSentence(error) ?? t('Discord could not be reached.');
    // For a softban, the first of two steps may have been carried out.
    const isPlain = isRefusal(error) && one.act !== 'softban';
    const found = isPlain ? 'not done' : await evidenceOf(guild, one, clock.now()).catch(() => 'unclear' as const);
    if (found === 'done') return settle(guild.id, one, 'done');
    const ended = await settle(guild.id, one, found === 'unclear' ? 'unclear' : 'failed', sentence);
    if ((await caseLog.publish(guild.id, ended)) !== 'later') await cases.close(guild.id, one.number);
    if (found === 'unclear') {
      throw new UserError(
        t('Discord did not say whether that was done (case {number}). Please look before you do it again.', {
          number: one.number,
        }),
        { cause: error },
      );
    }
    throw new UserError(t('That was not done (case {number}): {sentence}', { number: one.number, sentence }), {
      cause: error,
    });
  };

  /** Completes a case that is done: ends earlier cases, posts it, schedules its end, and applies the guild's rules for warnings. */
  const conclude = async (
    guild: Guild,
    done: ModerationCase,
    mayBePosted = false,
  ): Promise<Omit<ActResult, 'told'>> => {
    const { act, userId = '', number } = done;
    const earlier = temporaryBans.of(guild.id, userId);
    if (earlier !== undefined && earlier.number !== number && (act === 'unban' || act === 'ban')) {
      await temporaryBans.end(guild.id, earlier.number);
    }
    if (act === 'untimeout') await endTimeouts(guild.id, done);
    const postProblem = await caseLog.publish(guild.id, done, mayBePosted);
    const more = act === 'warn' ? await escalate(guild, done) : {};
    if (act === 'tempban') temporaryBans.watch(guild.id, done);
    else if (postProblem !== 'later') await cases.close(guild.id, number);
    return { done, postProblem, ...more };
  };

  const endTimeouts = async (guildId: string, { userId = '', at }: ModerationCase) => {
    for (const one of await cases.ofMember(guildId, userId)) {
      if (one.act !== 'timeout' || (one.until ?? 0) <= at || one.endedAt !== undefined) continue;
      await cases.change(guildId, one.number, (draft) => {
        draft.endedAt = at;
      });
    }
  };

  /** The action of the guild's rules for the points that a member has with this warning. */
  const escalate = async (guild: Guild, warning: ModerationCase): Promise<Pick<ActResult, 'points' | 'followed'>> => {
    const { userId = '', number, points: added = 0 } = warning;
    const rules = await settings.guild(guild).get();
    const all = await cases.ofMember(guild.id, userId);
    const points = pointsOf(all, rules, clock.now());
    const next = crossedThreshold(rules, points - added, points);
    if (next === undefined || all.some(({ because }) => because === number)) return { points };
    const { act, durationMs } = next;
    const reason = t('{points, plural, one {# point} other {# points}} of warnings', { points });
    try {
      const followed = await perform({ guildId: guild.id, userId, act, durationMs, reason, because: number });
      return { points, followed };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      log.info('what follows from warnings was refused', { guildId: guild.id, number, error });
      return { points, followed: error.message };
    }
  };

  const perform = async (ask: Ask): Promise<ActResult> => {
    const target = await check(ask);
    const { guild } = target;
    const one = await cases.open(guild.id, await draftOf(ask, target));
    const toldBefore = PARTING.has(one.act) ? await tell(one, target) : undefined;
    let done = one;
    if (one.state === 'pending') {
      try {
        await carryOut(one, ask, target);
        done = await settle(guild.id, one, 'done');
      } catch (error) {
        done = await failed(error, one, guild);
      }
    }
    const told = PARTING.has(one.act) ? toldBefore : await tell(done, target);
    return { told, ...(await conclude(guild, done)) };
  };

  /** Determines the result of an action that was running when the bot stopped. */
  const lookUp = async (guild: Guild, one: ModerationCase): Promise<ModerationCase> => {
    const evidence = await evidenceOf(guild, one, clock.now());
    log.info('a case that was left open was looked up', { guildId: guild.id, number: one.number, evidence });
    if (evidence === 'done') return settle(guild.id, one, 'done');
    return settle(
      guild.id,
      one,
      evidence === 'unclear' ? 'unclear' : 'failed',
      t('I was stopped in the middle of it.'),
    );
  };

  const moderation: Moderation = {
    act: async (request) => (await locked(request)).done,
    casesOf: cases.ofMember,
  };
  const locked = (ask: ModerationRequest) => mutex.run(`${ask.guildId}:${ask.userId}`, () => perform(ask));

  return {
    moderation,
    /** Carries out a request, one at a time for each member. @throws UserError with the obstacle */
    act: locked,
    /** Refuses everything that `act` would refuse. @throws UserError */
    check: async (ask: ModerationRequest): Promise<void> => void (await check(ask)),
    /** Finishes a case that an earlier run left open, according to the state at Discord. */
    recover: (guild: Guild, one: ModerationCase): Promise<void> =>
      mutex.run(`${guild.id}:${one.userId}`, async () => {
        const found = one.state === 'pending' ? await lookUp(guild, one) : one;
        if (found.state === 'done') await conclude(guild, found, true);
        else if ((await caseLog.publish(guild.id, found, true)) !== 'later') await cases.close(guild.id, found.number);
      }),
  };
}
export type Acts = ReturnType<typeof createActs>;
