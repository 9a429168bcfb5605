import {
  type Actor,
  auditReason,
  idAt,
  type MemberKey,
  type ModerationCase,
  membersCalled,
  nameText,
  plainText,
  requireGuildOf,
  t,
  UserError,
  visible,
} from '@cinnabar/sdk';
import type { Guild, GuildBasedChannel, GuildTextBasedChannel } from 'discord.js';
import type { Acts } from './acts.js';
import type { CaseLog } from './case-log.js';
import { caseLine } from './case-text.js';
import { type Cases, counts, pointsOf } from './cases.js';
import type { ChannelActs } from './channels.js';
import { createDeleteMessages, type Found, findMessages, type Purged, type PurgeFilter } from './purge.js';
import { LONGEST_REASON, type ModerationContext } from './settings.js';

/** Age up to which the bot's own messages are not purged: they may be open cards. */
const SPARED_MS = 5 * 60_000;
/** Cases on one page of a list. */
const LISTED = 20;

/** The actions of a moderator, for commands and tools. */
export function createModerator(
  context: ModerationContext,
  cases: Cases,
  caseLog: CaseLog,
  acts: Acts,
  channelActs: ChannelActs,
) {
  const { client, services, settings } = context;
  const { clock } = services;
  const deleteMessages = createDeleteMessages(client);

  const caseOf = async (guildId: string, number: number): Promise<ModerationCase> => {
    const found = await cases.find(guildId, number);
    if (found === undefined)
      throw new UserError(t('There is no case {number} here. `cases` lists the latest.', { number }));
    return found;
  };
  const checkReason = (reason: string): string => {
    if (reason.length <= LONGEST_REASON) return reason.trim();
    throw new UserError(t('A reason has at most {most, number} characters.', { most: LONGEST_REASON }));
  };

  return {
    acts,
    channelActs,
    caseOf,
    /** The guild of an actor. @throws UserError in a direct message */
    guildOf: (actor: Actor): Guild => requireGuildOf(client, actor),
    /** The channel of an actor. @throws UserError where there are no messages */
    async textChannelOf({ channelId }: Actor): Promise<GuildTextBasedChannel> {
      const channel = await client.channels.fetch(channelId);
      if (channel === null || !channel.isTextBased() || channel.isDMBased()) {
        throw new UserError(t('This only works in a channel of a server.'));
      }
      return channel;
    },
    /** A user by mention, id or name; by name only members. @throws UserError */
    async userIdOf(guild: Guild, text: string): Promise<string> {
      const id = /^(?:<@!?)?(\d{15,21})>?$/.exec(text.trim())?.[1];
      if (id !== undefined) return id;
      const [first, second] = await membersCalled(guild, text.trim());
      const name = nameText(text);
      if (first === undefined) throw new UserError(t('There is no member called {name} here.', { name }));
      if (second !== undefined) {
        throw new UserError(t('More than one member is called {name}. Use a mention or an id.', { name }));
      }
      return first.id;
    },
    /** A channel of the guild by mention, id or name. @throws UserError */
    channelOf(guild: Guild, text: string): GuildBasedChannel {
      const wanted = text.trim();
      const id = /^(?:<#)?(\d{15,21})>?$/.exec(wanted)?.[1];
      const name = wanted.replace(/^#/, '').toLowerCase();
      const found =
        id === undefined
          ? guild.channels.cache.find((channel) => channel.name.toLowerCase() === name)
          : guild.channels.cache.get(id);
      if (found === undefined) throw new UserError(t('There is no channel {name} here.', { name: nameText(wanted) }));
      return found;
    },
    /** A page of the cases of a guild, or of those about one member, newest first. */
    async list(guildId: string, userId: string | undefined, page: number): Promise<string> {
      const all: ModerationCase[] = [];
      const end = page * LISTED;
      if (userId === undefined) {
        for await (const one of cases.newestFirst(guildId)) {
          if (all.push(one) > end) break;
        }
      } else all.push(...(await cases.ofMember(guildId, userId)));
      const shown = all.slice(end - LISTED, end);
      if (shown.length === 0) {
        if (page > 1) return t('There is no page {page}.', { page });
        return userId === undefined
          ? t('There are no cases yet.')
          : t('There are no cases about <@{userId}>.', { userId });
      }
      return [
        userId === undefined ? t('**Latest cases**') : t('**Cases about** <@{userId}>', { userId }),
        ...shown.map(caseLine),
        ...(all.length > end ? [t('More with `page:{next}`.', { next: page + 1 })] : []),
      ].join('\n');
    },
    /** The warnings of a member, with their active points. */
    async warnings({ guild, id }: Exclude<MemberKey, { userId: string }>): Promise<string> {
      const rules = await settings.guild(guild).get();
      const all = (await cases.ofMember(guild.id, id)).filter(({ act }) => act === 'warn');
      if (all.length === 0) return t('There are no warnings of <@{id}>.', { id });
      const points = pointsOf(all, rules, clock.now());
      const past = all.filter((one) => !counts(one, rules, clock.now())).length;
      return [
        t('**Warnings of** <@{id}>: {points, plural, one {# point} other {# points}}', { id, points }),
        ...all.slice(0, LISTED).map(caseLine),
        ...(past === 0 ? [] : [t('{past, plural, one {# of them} other {# of them}} no longer counts.', { past })]),
      ].join('\n');
    },
    /** Revokes a warning. @throws UserError */
    async removeWarning(actor: Actor, number: number, reason: string | undefined): Promise<string> {
      const guild = this.guildOf(actor);
      const { act, removed, userId } = await caseOf(guild.id, number);
      if (act !== 'warn') throw new UserError(t('Case {number} is no warning.', { number }));
      if (removed !== undefined) throw new UserError(t('That warning has been taken back already.'));
      if (userId === actor.userId) throw new UserError(t('You cannot take back your own warning.'));
      const why = checkReason(reason ?? '');
      const changed = await cases.change(guild.id, number, (draft) => {
        draft.removed = { byUserId: actor.userId, at: clock.now(), ...(why === '' ? {} : { reason: why }) };
      });
      if (changed !== undefined) await caseLog.publish(guild.id, changed);
      return t('✓ The warning (case {number}) is taken back.', { number });
    },
    /** Changes a case's reason and its post in the case channel. @throws UserError */
    async changeReason(actor: Actor, number: number, reason: string): Promise<string> {
      const guild = this.guildOf(actor);
      const { userId } = await caseOf(guild.id, number);
      if (userId === actor.userId) throw new UserError(t('You cannot change a case about yourself.'));
      const words = checkReason(reason);
      const changed = await cases.change(guild.id, number, (draft) => {
        draft.reason = words;
        draft.editedBy = actor.userId;
      });
      if (changed !== undefined) await caseLog.publish(guild.id, changed);
      return t('✓ Case {number} has a new reason.', { number });
    },
    /** The messages that a purge would delete. @param sparesOwn keeps the bot's latest messages, among which is the card or answer */
    findMessages(channel: GuildTextBasedChannel, filter: PurgeFilter, sparesOwn: boolean): Promise<Found> {
      if (!sparesOwn) return findMessages(channel, filter, context.signal);
      const spare = { authorId: channel.client.user.id, since: idAt(clock.now() - SPARED_MS) };
      return findMessages(channel, { ...filter, spare }, context.signal);
    },
    purge: (
      actor: Actor,
      channelId: string,
      ids: readonly string[],
      onProgress: (deleted: number) => Promise<void> | void = () => undefined,
    ): Promise<Purged> =>
      deleteMessages(channelId, ids, {
        reason: auditReason(client, actor, undefined),
        now: clock.now(),
        signal: context.signal,
        onProgress,
      }),
  };
}
export type Moderator = ReturnType<typeof createModerator>;

/** Describes the result of a purge. */
export function purgedText({ deleted, isStopped }: Purged, { isCut }: Pick<Found, 'isCut'>): string {
  return [
    t('✓ {deleted, plural, =0 {No message was} one {# message was} other {# messages were}} deleted.', { deleted }),
    ...(isStopped ? [t('I was stopped before the end.')] : []),
    ...(isCut
      ? [t('I looked through the latest 5,000 messages only; further back with `before:` and a message.')]
      : []),
  ].join('\n');
}

/** Describes a filter for a question and a card: "by @alice, with links". */
export function filterText({ from, bots, contains, links, files, before, after, pinned }: PurgeFilter): string {
  return [
    ...(from === undefined ? [] : [t('of <@{from}>', { from })]),
    ...(bots === true ? [t('of bots')] : []),
    ...(contains === undefined ? [] : [t('with “{text}”', { text: plainText(visible(contains)) })]),
    ...(links === true ? [t('with links')] : []),
    ...(files === true ? [t('with files')] : []),
    ...(before === undefined ? [] : [t('before {message}', { message: before })]),
    ...(after === undefined ? [] : [t('after {message}', { message: after })]),
    ...(pinned === true ? [t('pinned ones, too')] : []),
  ].join(', ');
}
