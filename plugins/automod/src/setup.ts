import {
  findSendableIn,
  type ImportContext,
  importSetting,
  nameText,
  plainText,
  redImporter,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Guild, GuildMember } from 'discord.js';
import { ACTIONS_OF, nameOf } from './acts.js';
import {
  type Action,
  type AutomodContext,
  type collections,
  FILTERS,
  type Filter,
  LIMITS,
  settings,
  type Values,
} from './context.js';
import type { DiscordRules } from './discord-rules.js';
import { fold } from './rules.js';

export type Setup = ReturnType<typeof createSetup>;

/** Changes by admins, for commands and tools. Each resolves with a sentence about the result. */
export function createSetup({ client, settings, services }: AutomodContext, discordRules: DiscordRules) {
  const isOn: Readonly<Record<Filter, (values: Values) => boolean>> = {
    words: ({ words }) => words.length > 0,
    invites: ({ invites }) => invites,
    links: ({ links }) => links !== 'off',
    mentions: ({ mentions }) => mentions > 0,
    spam: ({ repeats, rate }) => repeats > 0 || rate > 0,
    capitals: ({ capitals }) => capitals > 0,
  };

  return {
    /** @throws UserError when one of the words is invalid; then none is added */
    async addWords(guild: Guild, words: readonly string[]): Promise<string> {
      const wanted = words.map((word) => word.trim()).filter((word) => word !== '');
      if (wanted.length === 0) throw new UserError(t('Say which words.'));
      for (const word of wanted) {
        if (word.length > LIMITS.wordLength || fold(word).replace(/[*\s]/g, '').length < 2)
          throw new UserError(
            t('{word} cannot be filtered: a word has 2 to {most} characters beside *.', {
              word: nameText(word.slice(0, 80)),
              most: LIMITS.wordLength,
            }),
          );
      }
      let added = 0;
      const { words: all } = await settings.guild(guild).update((draft) => {
        const known = new Set(draft.words.map(fold));
        const fresh = wanted.filter((word) => !known.has(fold(word)) && known.add(fold(word)));
        if (draft.words.length + fresh.length > LIMITS.words)
          throw new UserError(t('A server has at most {most} words.', { most: LIMITS.words }));
        added = fresh.length;
        draft.words = [...draft.words, ...fresh];
      });
      return t(
        '{added, plural, =0 {They are filtered already} one {Added one word} other {Added # words}}; {count, plural, one {# is} other {# are}} filtered.',
        { added, count: all.length },
      );
    },

    /** @throws UserError when none of them is in the filter */
    async removeWords(guild: Guild, words: readonly string[]): Promise<string> {
      const gone = new Set(words.map((word) => fold(word)));
      let removed = 0;
      const { words: all } = await settings.guild(guild).update((draft) => {
        const left = draft.words.filter((word) => !gone.has(fold(word)));
        removed = draft.words.length - left.length;
        if (removed === 0) throw new UserError(t('None of these words is filtered.'));
        draft.words = left;
      });
      return t(
        '{removed, plural, one {Removed one word} other {Removed # words}}; {count, plural, one {# is} other {# are}} filtered.',
        {
          removed,
          count: all.length,
        },
      );
    },

    /** Enables a filter with its limits, or disables it, and sets its actions. @throws UserError */
    async change(
      guild: Guild,
      filter: Filter,
      changes: Partial<Values>,
      actions: readonly Action[] | undefined,
    ): Promise<string> {
      const values = await settings.guild(guild).set({
        ...changes,
        ...(actions === undefined ? {} : { [ACTIONS_OF[filter]]: [...new Set(actions)] }),
      });
      return lineOf(filter, values);
    },

    /** The state of all filters, and obstacles to their actions. */
    async status(guild: Guild): Promise<string> {
      const values = await settings.guild(guild).get();
      const me = guild.members.me ?? (await guild.members.fetchMe());
      const on = FILTERS.filter((filter) => isOn[filter](values));
      const wants = (action: Action) => on.some((filter) => values[ACTIONS_OF[filter]].includes(action));
      const reports = await reportChannelOf(guild, me, values);
      const warnings = [
        ...(wants('delete') && !me.permissions.has('ManageMessages')
          ? [t('I cannot delete messages: I lack the permission Manage Messages.')]
          : []),
        ...((wants('warn') || wants('timeout')) && services.moderation === undefined
          ? [t('No one is warned or timed out: the plugin `moderation` is not running.')]
          : []),
        ...(wants('report') && 'problem' in reports ? [reports.problem] : []),
        ...(client.options.intents.has('MessageContent')
          ? []
          : [t('I cannot read messages: the owner of the bot has to allow me the intent Message Content.')]),
      ];
      const exempt = [...values.exemptRoles.map((id) => `<@&${id}>`), ...values.exemptChannels.map((id) => `<#${id}>`)];
      return [
        ...FILTERS.map((filter) => `${isOn[filter](values) ? '🟢' : '⚪'} ${lineOf(filter, values)}`),
        'problem' in reports ? t('Reports: nowhere') : t('Reports: {channel}', { channel: `<#${reports.id}>` }),
        t('Exempt: {exempt}', { exempt: [t('moderators and admins'), ...exempt].join(', ') }),
        await discordRules.statusOf(guild, values),
        ...warnings.map((warning) => `⚠️ ${warning}`),
      ].join('\n');
    },

    async words(guild: Guild): Promise<string> {
      const { words } = await settings.guild(guild).get();
      if (words.length === 0) return t('No words are filtered.');
      return `${t('{count, plural, one {# word is filtered:} other {# words are filtered:}}', { count: words.length })} ||${words.map(plainText).join(', ')}||`;
    },
  };

  /** The channel for reports, or why there is none. */
  async function reportChannelOf(
    guild: Guild,
    me: GuildMember,
    { reportChannel }: Values,
  ): Promise<{ readonly id: string } | { readonly problem: string }> {
    if (reportChannel === undefined) return { problem: t('Reports go nowhere: `automod report` chooses a channel.') };
    const channel = await findSendableIn(client, guild.id, reportChannel);
    const may =
      channel !== undefined && !channel.isDMBased() && channel.permissionsFor(me).has(['ViewChannel', 'SendMessages']);
    if (may) return { id: reportChannel };
    return {
      problem: t(
        'Reports go nowhere: their channel is gone, or I cannot write there. `automod report` chooses another.',
      ),
    };
  }
}

function lineOf(filter: Filter, values: Values): string {
  const actions = values[ACTIONS_OF[filter]].map(actionText).join(', ');
  const name = nameOf(filter);
  return t('{name}: {bounds} → {actions}', { name, bounds: boundsOf(filter, values), actions });
}

function boundsOf(filter: Filter, values: Values): string {
  switch (filter) {
    case 'words':
      return t('{count, plural, =0 {off} one {# word} other {# words}}', { count: values.words.length });
    case 'invites':
      return values.invites ? t('on') : t('off');
    case 'links':
      if (values.links === 'off') return t('off');
      return values.links === 'deny'
        ? t('not to {domains}', { domains: domainsText(values) })
        : t('only to {domains}', { domains: domainsText(values) });
    case 'mentions':
      return values.mentions === 0 ? t('off') : t('more than {most}', { most: values.mentions });
    case 'spam':
      if (values.repeats === 0 && values.rate === 0) return t('off');
      return [
        ...(values.repeats === 0 ? [] : [t('the same more than {most} times in 30 s', { most: values.repeats })]),
        ...(values.rate === 0 ? [] : [t('more than {most} messages in 10 s', { most: values.rate })]),
      ].join(', ');
    case 'capitals':
      return values.capitals === 0 ? t('off') : t('more than {most} %', { most: values.capitals });
  }
}

const SHOWN_DOMAINS = 10;

function domainsText({ domains }: Values): string {
  if (domains.length === 0) return t('no domain');
  const shown = domains.slice(0, SHOWN_DOMAINS).map(plainText).join(', ');
  return domains.length <= SHOWN_DOMAINS ? shown : `${shown}, …`;
}

function actionText(action: Action): string {
  switch (action) {
    case 'delete':
      return t('delete');
    case 'warn':
      return t('warn');
    case 'timeout':
      return t('time out');
    case 'report':
      return t('report');
  }
}

const data = z.strictObject({
  guild: z
    .strictObject({
      filter: z.array(z.string()).default([]),
      filter_names: z.boolean().optional(),
      filterban_count: z.number().optional(),
      filterban_time: z.number().optional(),
      filter_default_name: z.string().optional(),
    })
    .prefault({}),
  members: z.record(z.string(), z.unknown()).optional(),
  channels: z.record(z.string(), z.strictObject({ filter: z.array(z.string()).default([]) })).default({}),
});

/** Imports the words of Red's Filter cog. */
export const filterOfRed = redImporter({
  from: 'Filter',
  data,
  async run({ guild, members, channels }, context: ImportContext<typeof settings, typeof collections>) {
    const { leftOut, present, taken } = context;
    const document = context.settings.guild(context.guildId);
    const { words } = await document.get();
    const word = settings.guild.shape.words.unwrap().element;
    const isGood = (text: string) => word.safeParse(text).success;
    const known = guild.filter.filter((text) => words.includes(text));
    const added = guild.filter
      .filter((text) => !words.includes(text) && isGood(text))
      .slice(0, LIMITS.words - words.length);
    if (added.length > 0) {
      await document.set({ words: [...words, ...added] });
      taken(`words: ${added.join(', ')}; \`plugin enable automod\` switches the filter on`);
    }
    if (known.length > 0) present(`words: ${known.join(', ')}`);
    for (const text of guild.filter)
      if (!known.includes(text) && !added.includes(text))
        leftOut(`word ${text}`, `it is too short, or there are ${LIMITS.words}`);
    const { filter_names, filterban_count, filterban_time, filter_default_name } = guild;
    if (filter_names !== undefined)
      await importSetting(
        { document, schema: settings.guild },
        'names',
        filter_names,
        `filter_names ${filter_names}`,
        context,
      );
    if (filterban_count !== undefined || filterban_time !== undefined)
      leftOut(
        `a ban after ${filterban_count ?? 0} words in ${filterban_time ?? 0} s`,
        'wordsActions has warnings, and warnActions of moderation what follows them',
      );
    if (filter_default_name !== undefined)
      leftOut(`filter_default_name ${filter_default_name}`, 'names are reported, not replaced');
    for (const [channel, { filter }] of Object.entries(channels))
      leftOut(`words of the channel ${channel}: ${filter.join(', ')}`, 'the words are those of the whole server');
    if (members !== undefined) leftOut('how many filtered words members wrote lately', 'it is of no use later');
  },
});
