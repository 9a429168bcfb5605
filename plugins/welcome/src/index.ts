import {
  channelCalled,
  definePlugin,
  option,
  requireGuild,
  requireGuildOf,
  subcommand,
  t,
  UserError,
  unlessUnreachable,
  z,
} from '@cinnabar/sdk';
import { ChannelType } from 'discord.js';
import { ID, inject, KINDS, LIMITS, settings, type WelcomeContext } from './context.js';
import { watchArrivals } from './greeter.js';
import { createSetup, type Setup } from './setup.js';

const ADMIN = { tier: 'admin', where: 'guild' } as const;

export default definePlugin({
  manifest: {
    id: ID,
    version: '0.1.0',
    description: 'Greets new members in a channel or by direct message, and says goodbye',
    host: '^0.1.0',
    intents: ['Guilds'],
    optionalIntents: ['GuildMembers'],
    permissions: ['ViewChannel', 'SendMessages'],
    enabledByDefault: false,
  },
  settings,
  inject,
  setup(context) {
    const setup = createSetup(context);
    watchArrivals(context);
    registerCommands(context, setup);
    registerTools(context, setup);
    context.needsSetup(async (guildId) => {
      if (guildId === null) return undefined;
      const { channel, goodbyeChannel, directs } = await context.settings.guild(guildId).get();
      if (channel !== undefined || goodbyeChannel !== undefined || directs.length > 0) return undefined;
      return { problem: t('Nobody is greeted here yet.'), remedy: t('`welcome channel` chooses where.') };
    });
  },
});

function registerCommands({ group }: WelcomeContext, setup: Setup): void {
  const kind = z
    .enum(KINDS)
    .describe('In the channel, by direct message, when a member leaves, or when a bot is added');
  const channel = option
    .channel([ChannelType.GuildText, ChannelType.GuildAnnouncement])
    .optional()
    .describe('The channel; without one nothing is said any more');
  group({
    name: 'welcome',
    description: 'Greet new members and say goodbye',
    help: 'Texts of a kind are used in turn. In them `{member}` becomes a mention, `{name}` and `{server}` names, `{count}` the number of members; nothing else in them pings.',
    access: ADMIN,
    commands: [
      subcommand({
        name: 'channel',
        description: 'Choose where new members are greeted',
        options: { channel },
        run: async (ctx, { channel: chosen }) =>
          ctx.reply(await setup.setChannel(requireGuild(ctx), 'greeting', chosen?.id, ctx.actor)),
      }),
      subcommand({
        name: 'goodbye',
        description: 'Choose where it is said that a member has left',
        options: { channel },
        run: async (ctx, { channel: chosen }) =>
          ctx.reply(await setup.setChannel(requireGuild(ctx), 'goodbye', chosen?.id, ctx.actor)),
      }),
      subcommand({
        name: 'add',
        description: 'Add a text',
        options: { kind, text: option.rest().describe(`At most ${LIMITS.length} characters`) },
        examples: ['welcome add greeting Hello {member}, you are member {count} of {server}!'],
        run: async (ctx, { kind: of, text }) => ctx.reply(await setup.addText(requireGuild(ctx), of, text)),
      }),
      subcommand({
        name: 'remove',
        description: 'Remove a text',
        options: { kind, number: z.int().min(1).max(LIMITS.texts).describe('As `welcome preview` counts them') },
        run: async (ctx, { kind: of, number }) => ctx.reply(await setup.removeText(requireGuild(ctx), of, number)),
      }),
      subcommand({
        name: 'preview',
        reads: true,
        description: 'Show the texts as they would read for you',
        options: { kind: kind.optional() },
        async run(ctx, { kind: of }) {
          if (ctx.member === null) throw new UserError(t('This only works in a server.'));
          await ctx.reply(await setup.preview(ctx.member, of));
        },
      }),
      subcommand({
        name: 'show',
        reads: true,
        description: 'Show what is said where, and what is wrong',
        run: async (ctx) => ctx.reply(await setup.show(requireGuild(ctx))),
      }),
    ],
  });
}

function registerTools({ tool, client }: WelcomeContext, setup: Setup): void {
  tool({
    name: 'set_welcome',
    description:
      'Change how new members are greeted: where, and with which text. {member}, {name}, {server} and {count} in a text are filled in. kind: greeting (in the channel), direct (by direct message), goodbye (when a member leaves), bot (when a bot is added).',
    input: z.object({
      kind: z.enum(KINDS).default('greeting').describe('Which of them'),
      channel: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .describe('Where, for greeting and goodbye: name, mention or id; "off" for nowhere'),
      text: z.string().max(LIMITS.length).optional().describe('The text'),
      replace: z
        .boolean()
        .default(true)
        .describe('Whether it takes the place of the texts before; else they are used in turn'),
    }),
    risk: 'write',
    access: ADMIN,
    examples: [
      'greet new members in {channel}',
      'greet new members in {channel} with {text}',
      'welcome everyone in {channel}',
    ],
    async run({ kind, channel, text, replace }, { actor }) {
      const guild = requireGuildOf(client, actor);
      const said: string[] = [];
      if (channel === undefined && text === undefined) throw new UserError(t('Say where, or with which text.'));
      if (text !== undefined) said.push(await setup.addText(guild, kind, text, replace));
      if (channel !== undefined) {
        const id = channel.toLowerCase() === 'off' ? undefined : channelCalled(guild, channel).id;
        said.push(await setup.setChannel(guild, kind === 'goodbye' ? 'goodbye' : 'greeting', id, actor));
      }
      return said.join('\n');
    },
    present: { sentence: () => t("I'll change how new members are greeted"), success: (_, sentence) => sentence },
  });

  tool({
    name: 'view_welcome',
    description: 'How new members are greeted and seen off, with the texts as they would read for the member who asks.',
    input: z.object({}),
    risk: 'read',
    access: ADMIN,
    examples: ['how are new members greeted?'],
    async run(_input, { actor }) {
      const guild = requireGuildOf(client, actor);
      const member = await unlessUnreachable(guild.members.fetch(actor.userId));
      if (member === undefined) throw new UserError(t('You are not a member of this server.'));
      return `${await setup.show(guild)}\n\n${await setup.preview(member, undefined)}`;
    },
    present: { sentence: () => t("I'll show how new members are greeted"), success: (_, text) => text },
  });
}
