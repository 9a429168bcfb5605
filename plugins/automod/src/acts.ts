import {
  asNotice,
  createRateLimiter,
  findSendableIn,
  formatDuration,
  isUnknown,
  isUnreachable,
  plainText,
  refusalSentence,
  sentenceOf,
  TIERS,
  t,
  unlessUnreachable,
  visible,
} from '@cinnabar/sdk';
import type { AnyThreadChannel, Guild, GuildMember, Message } from 'discord.js';
import type { Action, AutomodContext, Filter, Values } from './context.js';
import type { Hit } from './rules.js';

const EXCERPT = 200;
/** Interval between warnings or time-outs for one member: of a flood, every message is deleted, but only the first leads to one of these. */
const AGAIN_AFTER_MS = 30_000;
const REPORTS_PER_MINUTE = 10;
const MOST_IN_BULK = 100;

/** The setting with a filter's actions. */
export const ACTIONS_OF = {
  words: 'wordsActions',
  invites: 'invitesActions',
  links: 'linksActions',
  mentions: 'mentionsActions',
  spam: 'spamActions',
  capitals: 'capitalsActions',
} as const satisfies Record<Filter, keyof Values>;

/** A member whose message violated a filter, and where. */
interface Offence {
  readonly guild: Guild;
  readonly userId: string;
  readonly place: string;
  /** The channel of the message; `undefined` for content that all members can see. */
  readonly channelId: string | undefined;
  readonly hit: Hit;
  readonly text: string;
}

export type Acts = ReturnType<typeof createActs>;

/** The actions against violations: deletions by the bot itself, warnings and time-outs through the moderation plugin, and reports. */
export function createActs({ client, settings, services, log }: AutomodContext) {
  const { access, clock, languages, moderation, provenance } = services;
  const punished = createRateLimiter(clock, AGAIN_AFTER_MS);
  const reported = createRateLimiter(clock, 60_000);

  const isModerator = async (guildId: string | null, userId: string, channelId: string): Promise<boolean> =>
    TIERS.indexOf(await access.tierOf({ userId, guildId, channelId })) >= TIERS.indexOf('mod');

  /** @returns the actions, as text */
  const punish = async (
    { guild, userId, hit }: Offence,
    actions: readonly Action[],
    timeoutMs: number,
  ): Promise<readonly string[]> => {
    const acts = (['warn', 'timeout'] as const).filter((act) => actions.includes(act));
    if (acts.length === 0 || punished.take(`${guild.id}:${userId}`, 1) !== undefined) return [];
    if (moderation === undefined) return [t('neither warned nor timed out: the plugin `moderation` is not running')];
    const reason = t('AutoMod: {filter}', { filter: nameOf(hit.filter) });
    const done: string[] = [];
    for (const act of acts) {
      const request = {
        guildId: guild.id,
        userId,
        act,
        reason,
        ...(act === 'timeout' ? { durationMs: timeoutMs } : {}),
      };
      try {
        await moderation.act(request);
        done.push(
          act === 'warn' ? t('warned') : t('timed out for {duration}', { duration: formatDuration(timeoutMs) }),
        );
      } catch (error) {
        const sentence = sentenceOf(error);
        if (sentence === undefined) throw error;
        done.push(sentence);
      }
    }
    return done;
  };

  const report = async (
    { guild, userId, place, channelId, hit, text }: Offence,
    done: readonly string[],
    values: Values,
  ): Promise<void> => {
    if (values.reportChannel === undefined || reported.take(guild.id, REPORTS_PER_MINUTE) !== undefined) return;
    const channel = await findSendableIn(client, guild.id, values.reportChannel);
    if (channel === undefined) return;
    // A report does not quote a message from a restricted channel to readers who cannot see that channel.
    const isOpen =
      channelId === undefined ||
      provenance.mayTell([{ guildId: guild.id, channelId }], { guildId: guild.id, channelId: channel.id });
    const filter = nameOf(hit.filter);
    const what = visible(hit.what).replaceAll('`', 'ˋ').slice(0, EXCERPT);
    const excerpt = text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text;
    const lines = [
      isOpen
        ? t('**{filter}** (`{what}`): <@{userId}> in {place}', { filter, what, userId, place })
        : t('**{filter}**: <@{userId}> in {place}', { filter, userId, place }),
      ...(isOpen
        ? text === ''
          ? []
          : [`> ${plainText(visible(excerpt))}`]
        : [t('-# What it said is left out: not all who read this channel can read that one.')]),
      done.length === 0 ? t('Nothing was done.') : t('Done: {acts}', { acts: done.join(', ') }),
    ];
    const sent = channel.send({ content: asNotice(lines.join('\n').slice(0, 1_990)), allowedMentions: { parse: [] } });
    await sent.catch((error: unknown) => log.warn('a report could not be posted', { guildId: guild.id, error }));
  };

  const follow = async (offence: Offence, values: Values, before: readonly string[] = []): Promise<void> => {
    const actions = values[ACTIONS_OF[offence.hit.filter]];
    const done = [...before, ...(await punish(offence, actions, values.timeout))];
    if (actions.includes('report')) await report(offence, done, values);
  };

  /** Runs a task in the language of the guild, whose moderators read the actions and reports. */
  const inGuild = (guild: Guild, task: () => Promise<void>) => languages.speak({ guildId: guild.id }, task);

  return {
    /** Whether the author or the channel is exempt: moderators, admins, exempt roles and channels. Called only for messages that violate a filter. */
    async isExempt(message: Message, { exemptRoles, exemptChannels }: Values): Promise<boolean> {
      const { guildId, channelId, channel, author } = message;
      const places = [
        channelId,
        ...(channel.isThread()
          ? [channel.parentId, channel.parent?.parentId]
          : 'parentId' in channel
            ? [channel.parentId]
            : []),
      ];
      if (places.some((id) => id != null && exemptChannels.includes(id))) return true;
      if (await isModerator(guildId, author.id, channelId)) return true;
      if (exemptRoles.length === 0 || message.guild === null) return false;
      const member = message.member ?? (await unlessUnreachable(message.guild.members.fetch(author.id)));
      return member?.roles.cache.some(({ id }) => exemptRoles.includes(id)) === true;
    },

    /** @param others messages of the same violation: the rest of a flood */
    async onMessage(
      message: Message,
      hit: Hit,
      values: Values,
      others: readonly { readonly id: string; readonly channelId: string }[],
    ): Promise<void> {
      const { guild } = message;
      if (guild === null) return;
      const deletes = values[ACTIONS_OF[hit.filter]].includes('delete');
      const place = `<#${message.channelId}>`;
      await inGuild(guild, async () => {
        const done = deletes ? [await remove(message, others)] : [];
        const { channelId, content: text, author } = message;
        await follow({ guild, userId: author.id, place, channelId, hit, text }, values, done);
      });
    },

    /** A message that Discord's AutoMod has blocked by a rule of this plugin: the other actions are done here. */
    async onStopped(guild: Guild, userId: string, channelId: string | null, hit: Hit, text: string): Promise<void> {
      if (await isModerator(guild.id, userId, channelId ?? '')) return;
      const values = await settings.guild(guild).get();
      await inGuild(guild, () => {
        const place = channelId === null ? t('this server') : `<#${channelId}>`;
        const offence = { guild, userId, place, channelId: channelId ?? undefined, hit, text };
        return follow(offence, values, [t('stopped by Discord before anyone saw it')]);
      });
    },

    async onNickname(member: GuildMember, hit: Hit): Promise<void> {
      const { guild, id, displayName } = member;
      const values = await settings.guild(guild).get();
      if (member.roles.cache.some((role) => values.exemptRoles.includes(role.id))) return;
      if (await isModerator(guild.id, id, '')) return;
      await inGuild(guild, async () => {
        // Without a nickname, the name is that of the account, which the bot cannot change.
        const next = member.nickname === null ? t('Renamed') : null;
        const done = await tried(
          () => member.setNickname(next, t('AutoMod: {filter}', { filter: nameOf('words') })),
          t('nickname removed'),
        );
        await report(
          { guild, userId: id, place: t('their name'), channelId: undefined, hit, text: displayName },
          [done],
          values,
        );
      });
    },

    async onThread(thread: AnyThreadChannel, hit: Hit): Promise<void> {
      const values = await settings.guild(thread.guild).get();
      const owner = thread.ownerId;
      if (owner === null || owner === client.user?.id || (await isModerator(thread.guildId, owner, thread.id))) return;
      const { guild, id, name: text } = thread;
      await inGuild(guild, async () => {
        const done = await tried(
          () => thread.setName(t('Renamed'), t('AutoMod: {filter}', { filter: nameOf('words') })),
          t('thread renamed'),
        );
        await report({ guild, userId: owner, place: `<#${id}>`, channelId: id, hit, text }, [done], values);
      });
    },
  };

  /** @returns the action, or the reason why it failed, as text */
  async function tried(act: () => Promise<unknown>, done: string): Promise<string> {
    try {
      await act();
      return done;
    } catch (error) {
      const sentence = refusalSentence(error);
      if (sentence === undefined) throw error;
      return sentence;
    }
  }

  async function remove(
    message: Message,
    others: readonly { readonly id: string; readonly channelId: string }[],
  ): Promise<string> {
    const here = others
      .filter(({ id, channelId }) => id !== message.id && channelId === message.channelId)
      .map(({ id }) => id);
    try {
      if (here.length > 0 && !message.channel.isDMBased())
        await message.channel.bulkDelete([...here, message.id].slice(-MOST_IN_BULK));
      else await message.delete();
      return t('{count, plural, one {deleted} other {# messages deleted}}', { count: here.length + 1 });
    } catch (error) {
      if (isUnknown(error)) return t('deleted already');
      if (!isUnreachable(error)) throw error;
      return t('not deleted: I lack the permission Manage Messages there');
    }
  }
}

/** The display name of a filter. */
export function nameOf(filter: Filter): string {
  switch (filter) {
    case 'words':
      return t('Word that is not allowed');
    case 'invites':
      return t('Invite to another server');
    case 'links':
      return t('Link that is not allowed');
    case 'mentions':
      return t('Too many mentions');
    case 'spam':
      return t('Spam');
    case 'capitals':
      return t('Too many capital letters');
  }
}
