import {
  type Actor,
  asNotice,
  channelCalled,
  createRateLimiter,
  definePlugin,
  findSendableIn,
  isUnreachable,
  option,
  requireGuild,
  sendOnce,
  subcommand,
  t,
  translated,
  UserError,
  unlessUnreachable,
  z,
} from '@cinnabar/sdk';
import { ChannelType, type Guild, type GuildMember, type PartialGuildMember, type SendableChannels } from 'discord.js';
import {
  type Arrival,
  fillIn,
  ID,
  inject,
  KINDS,
  type Kind,
  LIMITS,
  type settings as schemas,
  settings,
  TEXTS,
  type WelcomeContext,
} from './context.js';
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
          if (ctx.member === null) throw new UserError(t('This works in a server only.'));
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
  const guildFor = ({ guildId }: Actor) =>
    requireGuild({ guild: (guildId === null ? undefined : client.guilds.cache.get(guildId)) ?? null });
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
      const guild = guildFor(actor);
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
      const guild = guildFor(actor);
      const member = await unlessUnreachable(guild.members.fetch(actor.userId));
      if (member === undefined) throw new UserError(t('You are not a member of this server.'));
      return `${await setup.show(guild)}\n\n${await setup.preview(member, undefined)}`;
    },
    present: { sentence: () => t("I'll show how new members are greeted"), success: (_, text) => text },
  });
}

type Values = z.output<typeof schemas.guild>;

const WINDOW_MS = 60_000;
/** Members who have not accepted the rules yet, over all guilds. */
const MOST_WAITING = 10_000;

/** Greets those who join and says goodbye to those who leave: each once, and no more of them in a minute than the guild wants. */
function watchArrivals({ on, after, client, settings, services, log }: WelcomeContext): void {
  const { clock, languages, random } = services;
  const limiter = createRateLimiter(clock, WINDOW_MS);
  const turns = new Map<string, number>();
  /** How many were not said, by guild and kind, until the minute is over. */
  const left = new Map<string, number>();
  const waiting = new Set<string>();

  /** The texts of a guild one after another; the first one is any of them. */
  const nextOf = (guild: Guild, kind: Kind, texts: readonly string[]): string | undefined => {
    const key = `${guild.id}:${kind}`;
    const turn = turns.get(key) ?? Math.floor(random.next() * texts.length);
    turns.set(key, turn + 1);
    return texts[turn % texts.length];
  };

  /** The plugin's own texts come in the language of the guild. */
  const written = (member: GuildMember | PartialGuildMember, text: string): Promise<string> =>
    languages.speak({ guildId: member.guild.id }, () => fillIn(translated(text), arrivalOf(member)));

  /** A place in this minute; without one, the summary at its end counts this one. */
  const isAdmitted = (guild: Guild, kind: 'greeting' | 'goodbye', channelId: string, most: number): boolean => {
    const key = `${guild.id}:${kind}`;
    if (limiter.take(key, most) === undefined) return true;
    const count = left.get(key);
    left.set(key, (count ?? 0) + 1);
    if (count === undefined) after(WINDOW_MS, () => summarise(guild, kind, channelId));
    return false;
  };

  const summarise = async (guild: Guild, kind: 'greeting' | 'goodbye', channelId: string): Promise<void> => {
    const key = `${guild.id}:${kind}`;
    const count = left.get(key) ?? 0;
    left.delete(key);
    const text = await languages.speak({ guildId: guild.id }, () =>
      kind === 'greeting'
        ? t('{count, plural, one {# more member has joined.} other {# more members have joined.}}', { count })
        : t('{count, plural, one {# more member has left.} other {# more members have left.}}', { count }),
    );
    await sayIn(guild, channelId, asNotice(text), `${key}:${clock.now()}`);
  };

  const sayIn = async (
    { id }: Guild,
    channelId: string,
    content: string,
    key: string,
    pinged: readonly string[] = [],
  ): Promise<void> => {
    const channel = await findSendableIn(client, id, channelId);
    if (channel === undefined)
      return log.info('a greeting was not posted: its channel is gone, or closed to the bot', { channelId });
    return say(channel, content, key, pinged);
  };

  const say = async (
    channel: SendableChannels,
    content: string,
    key: string,
    pinged: readonly string[] = [],
  ): Promise<void> => {
    const message = { content, allowedMentions: { parse: [], users: [...pinged] } };
    try {
      await sendOnce(channel, message, key, { clock });
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      log.warn('a greeting was not posted', { channelId: channel.id, error });
    }
  };

  const greet = async (member: GuildMember): Promise<void> => {
    const values = await settings.guild(member.guild).get();
    const key = `welcome:${idOf(member)}:${member.joinedTimestamp ?? 0}`;
    const isSaid = values.channel === undefined || (await greetIn(values.channel, member, values, key));
    // Of those whom the summary counts, no one is written to either: Discord closes bots for many direct messages.
    if (isSaid && !member.user.bot) await greetDirectly(member, values, key);
  };

  /** @returns whether it is not left to the summary */
  const greetIn = async (channelId: string, member: GuildMember, values: Values, key: string): Promise<boolean> => {
    const kind = member.user.bot ? 'bot' : 'greeting';
    const text = nextOf(member.guild, kind, values[TEXTS[kind]]);
    if (text === undefined) return true;
    if (!isAdmitted(member.guild, 'greeting', channelId, values.mostPerMinute)) return false;
    const pinged = values.mention && !member.user.bot ? [member.id] : [];
    await sayIn(member.guild, channelId, await written(member, text), key, pinged);
    return true;
  };

  const greetDirectly = async (member: GuildMember, values: Values, key: string): Promise<void> => {
    const text = nextOf(member.guild, 'direct', values.directs);
    if (text === undefined || limiter.take(`${member.guild.id}:direct`, values.mostPerMinute) !== undefined) return;
    const channel = await unlessUnreachable(member.createDM());
    if (channel !== undefined) await say(channel, await written(member, text), `${key}:direct`);
  };

  on('guildMemberAdd', async (member) => {
    const { channel, directs, afterScreening } = await settings.guild(member.guild).get();
    if (channel === undefined && directs.length === 0) return;
    if (!member.pending || !afterScreening || member.user.bot) return greet(member);
    const [oldest] = waiting;
    if (waiting.size >= MOST_WAITING && oldest !== undefined) waiting.delete(oldest);
    waiting.add(idOf(member));
  });

  on('guildMemberUpdate', async (_before, member) => {
    if (!member.pending && waiting.delete(idOf(member))) await greet(member);
  });

  on('guildMemberRemove', async (member) => {
    const { guild } = member;
    // Who never was let in was not greeted either.
    if (waiting.delete(idOf(member))) return;
    const { goodbyeChannel, goodbyes, mostPerMinute } = await settings.guild(guild).get();
    if (goodbyeChannel === undefined || member.user.bot) return;
    const text = nextOf(guild, 'goodbye', goodbyes);
    if (text === undefined || !isAdmitted(guild, 'goodbye', goodbyeChannel, mostPerMinute)) return;
    const key = `goodbye:${guild.id}:${member.id}:${clock.now()}`;
    await sayIn(guild, goodbyeChannel, await written(member, text), key);
  });
}

const idOf = ({ guild, id }: GuildMember | PartialGuildMember): string => `${guild.id}:${id}`;

export function arrivalOf({ guild, id, displayName }: GuildMember | PartialGuildMember): Arrival {
  return { memberId: id, name: displayName, server: guild.name, count: guild.memberCount };
}
