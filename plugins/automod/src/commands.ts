import { defined, option, requireGuild, requireGuildOf, subcommand, subgroup, t, UserError, z } from '@cinnabar/sdk';
import { ChannelType, type Guild } from 'discord.js';
import { nameOf } from './acts.js';
import { ACTIONS, type Action, type AutomodContext, FILTERS, type Filter, LIMITS, type Values } from './context.js';
import type { Setup } from './setup.js';
import type { Watch } from './watch.js';

export const ADMIN = { tier: 'admin', where: 'guild' } as const;

export function registerCommands(context: AutomodContext, setup: Setup, watch: Watch): void {
  const { group, settings } = context;
  const words = option.rest().describe('Words and phrases, with commas between them; * stands for any letters');
  const exemptOptions = {
    role: option.role().optional().describe('Its members'),
    channel: option.channel().optional().describe('A channel, category or thread'),
  };
  const changeExempt = async (
    guild: Guild,
    {
      role,
      channel,
    }: { readonly role?: { readonly id: string } | undefined; readonly channel?: { readonly id: string } | undefined },
    isExempt: boolean,
  ): Promise<string> => {
    if (role === undefined && channel === undefined) throw new UserError(t('Say which role or channel.'));
    const changed = (ids: readonly string[], one: { readonly id: string } | undefined) =>
      one === undefined ? [...ids] : [...ids.filter((id) => id !== one.id), ...(isExempt ? [one.id] : [])];
    await settings.guild(guild).update((draft) => {
      draft.exemptRoles = changed(draft.exemptRoles, role);
      draft.exemptChannels = changed(draft.exemptChannels, channel);
    });
    const who = [
      ...(role === undefined ? [] : [`<@&${role.id}>`]),
      ...(channel === undefined ? [] : [`<#${channel.id}>`]),
    ].join(', ');
    return isExempt
      ? t('No filter holds for {who} any more.', { who })
      : t('The filters hold for {who} again.', { who });
  };

  group({
    name: 'automod',
    description: 'Filter words, invites, links, mentions and spam',
    help: 'The filters do not apply to moderators and admins. `automod actions` chooses what a filter does: delete, warn, timeout, report.',
    access: ADMIN,
    commands: [
      subcommand({
        name: 'status',
        reads: true,
        description: 'Show what is filtered, by me and by Discord, and what is wrong',
        run: async (ctx) => ctx.reply(await setup.status(requireGuild(ctx))),
      }),
      subgroup({
        name: 'words',
        description: 'Words that are not allowed',
        commands: [
          subcommand({
            name: 'add',
            description: 'Filter words and phrases',
            ephemeral: true,
            options: { words },
            examples: ['automod words add heck, darn*, *gosh*, what the'],
            run: async (ctx, { words: typed }) => ctx.reply(await setup.addWords(requireGuild(ctx), typed.split(','))),
          }),
          subcommand({
            name: 'remove',
            description: 'Filter them no more',
            ephemeral: true,
            options: { words },
            run: async (ctx, { words: typed }) =>
              ctx.reply(await setup.removeWords(requireGuild(ctx), typed.split(','))),
          }),
          subcommand({
            name: 'list',
            reads: true,
            description: 'List them',
            ephemeral: true,
            run: async (ctx) => ctx.reply({ content: await setup.words(requireGuild(ctx)), ephemeral: true }),
          }),
        ],
      }),
      subcommand({
        name: 'invites',
        description: 'Filter invites to other servers, or not',
        options: { on: z.boolean().describe('yes or no') },
        run: async (ctx, { on }) =>
          ctx.reply(await setup.change(requireGuild(ctx), 'invites', { invites: on }, undefined)),
      }),
      subcommand({
        name: 'links',
        description: 'Filter links by their domain',
        help: '`deny` filters links to the domains, `allow` all others, `off` none. Without domains they stay as they are.',
        options: {
          mode: z.enum(['off', 'deny', 'allow']).describe('deny these domains, or allow no others'),
          domains: option.rest().optional().describe('Domains, with commas between them'),
        },
        examples: ['automod links deny example.org, example.net', 'automod links allow wikipedia.org'],
        run: async (ctx, { mode, domains }) =>
          ctx.reply(
            await setup.change(
              requireGuild(ctx),
              'links',
              { links: mode, ...(domains === undefined ? {} : { domains: listOf(domains) }) },
              undefined,
            ),
          ),
      }),
      subcommand({
        name: 'mentions',
        description: 'Limit how many members and roles one message mentions',
        options: { most: z.int().min(0).max(50).describe('0: any number') },
        run: async (ctx, { most }) =>
          ctx.reply(await setup.change(requireGuild(ctx), 'mentions', { mentions: most }, undefined)),
      }),
      subcommand({
        name: 'spam',
        description: 'Limit how often a member says the same, and how fast they write',
        options: {
          repeats: z.int().min(0).max(20).describe('The same within 30 s; 0: any number'),
          rate: z.int().min(0).max(60).optional().describe('Messages within 10 s; 0: any number'),
        },
        examples: ['automod spam 3 8'],
        run: async (ctx, { repeats, rate }) =>
          ctx.reply(
            await setup.change(
              requireGuild(ctx),
              'spam',
              { repeats, ...(rate === undefined ? {} : { rate }) },
              undefined,
            ),
          ),
      }),
      subcommand({
        name: 'capitals',
        description: 'Limit the share of capital letters in a message',
        options: { most: z.int().min(0).max(100).describe('In per cent; 0: any number') },
        run: async (ctx, { most }) =>
          ctx.reply(await setup.change(requireGuild(ctx), 'capitals', { capitals: most }, undefined)),
      }),
      subcommand({
        name: 'actions',
        description: 'Choose what a filter does',
        options: {
          filter: z.enum(FILTERS).describe('The filter'),
          actions: option.rest().describe('delete, warn, timeout, report: several with commas between them'),
        },
        examples: ['automod actions spam delete, timeout, report'],
        run: async (ctx, { filter, actions }) =>
          ctx.reply(await setup.change(requireGuild(ctx), filter, {}, actionsIn(actions))),
      }),
      subcommand({
        name: 'report',
        description: 'Choose where reports go',
        options: {
          channel: option
            .channel([ChannelType.GuildText, ChannelType.GuildAnnouncement])
            .optional()
            .describe('The channel; without one, nowhere'),
        },
        async run(ctx, { channel }) {
          const guild = requireGuild(ctx);
          if (channel === undefined) await settings.guild(guild).reset('reportChannel');
          else await settings.guild(guild).set({ reportChannel: channel.id });
          await ctx.reply(
            channel === undefined
              ? t('Reports go nowhere now.')
              : t('Reports go to {channel}.', { channel: `${channel}` }),
          );
        },
      }),
      subcommand({
        name: 'exempt',
        description: 'Exempt a role or a channel from the filters',
        options: exemptOptions,
        run: async (ctx, chosen) => ctx.reply(await changeExempt(requireGuild(ctx), chosen, true)),
      }),
      subcommand({
        name: 'unexempt',
        description: 'Apply the filters to a role or a channel again',
        options: exemptOptions,
        run: async (ctx, chosen) => ctx.reply(await changeExempt(requireGuild(ctx), chosen, false)),
      }),
      subcommand({
        name: 'test',
        reads: true,
        description: 'Try a text on the filters',
        ephemeral: true,
        options: { text: option.rest().describe('The text') },
        async run(ctx, { text }) {
          const hit = await watch.test(requireGuild(ctx).id, text);
          await ctx.reply(
            hit === undefined
              ? t('No filter applies to it.')
              : t('{filter}: `{what}`', { filter: nameOf(hit.filter), what: hit.what.replaceAll('`', 'ˋ') }),
          );
        },
      }),
    ],
  });
}

const listOf = (typed: string): string[] =>
  typed
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== '');

function actionsIn(typed: string): readonly Action[] {
  return listOf(typed.replace(/\s+/g, ',')).map((word) => {
    const action = ACTIONS.find((one) => one === word);
    if (action === undefined)
      throw new UserError(
        t('There is no action {word}; there are {actions}.', {
          word: `\`${word.replaceAll('`', '')}\``,
          actions: ACTIONS.join(', '),
        }),
      );
    return action;
  });
}

export function registerTools({ tool, client }: AutomodContext, setup: Setup): void {
  const word = z.string().min(1).max(LIMITS.wordLength);
  tool({
    name: 'change_word_filter',
    description:
      'Add words and phrases that members may not write, or remove them. * stands for any letters: bad*, *bad*.',
    input: z.object({
      add: z.array(word).max(100).default([]).describe('Words to filter'),
      remove: z.array(word).max(100).default([]).describe('Words to filter no more'),
    }),
    risk: 'write',
    access: ADMIN,
    examples: ['filter the word {add}', 'nobody may say {add}', 'allow the word {remove} again'],
    async run({ add, remove }, { actor }) {
      if (add.length + remove.length === 0) throw new UserError(t('Say which words.'));
      const guild = requireGuildOf(client, actor);
      const said: string[] = [];
      if (remove.length > 0) said.push(await setup.removeWords(guild, remove));
      if (add.length > 0) said.push(await setup.addWords(guild, add));
      return said.join('\n');
    },
    present: { sentence: () => t("I'll change the words that are filtered"), success: (_, sentence) => sentence },
  });

  tool({
    name: 'set_automod_filter',
    description:
      'Switch a filter of messages on with its limit, or off, and choose what it does. limit: for mentions the most in one message, for spam how often the same within 30 s, for capitals the most per cent; 0 is off. For invites use on. For links mode and domains.',
    input: z.object({
      filter: z.enum(FILTERS).describe('Which filter; words are changed with change_word_filter'),
      on: z.boolean().optional().describe('For invites'),
      limit: z.int().min(0).max(100).optional().describe('For mentions, spam and capitals; 0: off'),
      mode: z.enum(['off', 'deny', 'allow']).optional().describe('For links: deny these domains, or allow no others'),
      domains: z.array(z.string().max(253)).max(LIMITS.domains).optional().describe('For links'),
      actions: z
        .array(z.enum(ACTIONS))
        .min(1)
        .max(ACTIONS.length)
        .optional()
        .describe('What happens to those messages'),
    }),
    risk: 'write',
    access: ADMIN,
    examples: ['set the filter {filter} to {limit}', 'switch {on} the filter of {filter}'],
    run({ filter, on, limit, mode, domains, actions }, { actor }) {
      const changes = changesOf({ filter, on, limit, mode, domains });
      if (Object.keys(changes).length === 0 && actions === undefined)
        throw new UserError(t('Say what is to change about that filter.'));
      return setup.change(requireGuildOf(client, actor), filter, changes, actions);
    },
    present: {
      sentence: ({ filter }) => t("I'll change the filter “{filter}”", { filter: nameOf(filter) }),
      said: ['filter'],
      success: (_, sentence) => sentence,
    },
  });

  tool({
    name: 'view_automod',
    description: 'The filters of this server, of the bot and of Discord’s AutoMod, and their problems.',
    input: z.object({}),
    risk: 'read',
    access: ADMIN,
    examples: ['what is filtered here?', 'which filters are on?'],
    run: (_input, { actor }) => setup.status(requireGuildOf(client, actor)),
    present: { sentence: () => t("I'll show what is filtered here"), success: (_, text) => text },
  });
}

interface FilterRequest {
  readonly filter: Filter;
  readonly on: boolean | undefined;
  readonly limit: number | undefined;
  readonly mode: Values['links'] | undefined;
  readonly domains: string[] | undefined;
}

/** The settings for a model's arguments. */
function changesOf({ filter, on, limit, mode, domains }: FilterRequest): Partial<Values> {
  switch (filter) {
    case 'invites':
      return defined({ invites: on });
    case 'mentions':
      return defined({ mentions: limit });
    case 'spam':
      return defined({ repeats: limit });
    case 'capitals':
      return defined({ capitals: limit });
    case 'links':
      return defined({ links: mode, domains });
    case 'words':
      return {};
  }
}
