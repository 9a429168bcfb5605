import {
  asNotice,
  createAskFirst,
  findSendableIn,
  type ImportContext,
  importSetting,
  option,
  plainText,
  redImporter,
  type Subcommand,
  sendText,
  subcommand,
  t,
  textMessages,
  UserError,
  visible,
  z,
} from '@cinnabar/sdk';
import type { Guild, SendableChannels } from 'discord.js';
import { type AllServers, missingNote } from './all-servers.js';
import { type AdminContext, type collections, settings } from './context.js';

const OWNER = { tier: 'botOwner' } as const;
const HOUR_MS = 60 * 60_000;
const LONGEST = 1_500;

/** Number of concurrent requests of an announcement: the rest of Discord's rate limit is left for answers to members. */
const AT_ONCE = 4;
/** Maximum number of servers named in one answer. */
const NAMED = 10;
const LONGEST_ANNOUNCEMENT_MS = 30 * 60_000;

/** `!bot contact`, `answer` and `announce`: messages of members to the owner of the bot, and of the owner to a member or to all servers. */
export function messageCommands(context: AdminContext): readonly Subcommand[] {
  const { settings, services, client, question } = context;
  const { audit, random } = services;
  const askFirst = createAskFirst({ component: context.component, ...services, name: 'bot-announce', access: OWNER });
  const { say, tell, tellOwners, attempt } = createMessenger(context);

  /** The channel for announcements in a server: the admins' choice, otherwise the system channel. */
  const channelOf = async (guild: Guild): Promise<SendableChannels | undefined> => {
    const id = (await settings.guild(guild).get()).announcements ?? guild.systemChannelId;
    return id === null ? undefined : findSendableIn(client, guild.id, id);
  };
  const places = () => Promise.all(client.guilds.cache.map(async (guild) => [guild, await channelOf(guild)] as const));

  const announceable = question({
    name: 'announceable',
    input: z.object({}),
    answer: z.object({ places: z.number(), without: z.number() }),
    async run() {
      const found = await places();
      const without = found.filter(([, channel]) => channel === undefined).length;
      return { places: found.length - without, without };
    },
  });
  const announcing = question({
    name: 'announce',
    input: z.object({ message: z.string(), key: z.string() }),
    answer: z.object({ count: z.number(), missed: z.number(), names: z.array(z.string()) }),
    deadlineMs: LONGEST_ANNOUNCEMENT_MS,
    async run({ message, key }) {
      const found = await places();
      const missed = found.filter(([, channel]) => channel === undefined).map(([{ name }]) => name);
      let count = 0;
      const waiting = found.values();
      const work = async () => {
        for (const [guild, channel] of waiting) {
          if (channel === undefined) continue;
          if (await attempt(() => say(channel, message, `${key}:${channel.id}`), channel.id)) count += 1;
          else missed.push(guild.name);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return { count, missed: missed.length, names: missed.slice(0, NAMED) };
    },
  });

  return [
    subcommand({
      name: 'contact',
      description: 'Write to the owner of the bot',
      cooldown: { uses: 2, perMs: HOUR_MS },
      options: { message: option.rest().max(LONGEST).describe('What you want to say') },
      async run(ctx, { message }) {
        if (!(await settings.global.get()).contact)
          throw new UserError(t('The owner of this bot takes no messages this way.'));
        const content = () => {
          const place = ctx.guild === null ? t('in a direct message') : plainText(ctx.guild.name);
          const from = { name: plainText(ctx.user.username), id: ctx.user.id, place };
          return [
            t('**Message from {name}** ({id}), {place}:', from),
            quoted(message),
            t('-# Answer with `bot answer {id} …`', { id: ctx.user.id }),
          ].join('\n');
        };
        if (!(await tellOwners(content, `contact:${random.id()}`)))
          throw new UserError(t('The owner of the bot cannot be reached at the moment.'));
        return ctx.reply(t('I have passed it on to the owner of the bot.'));
      },
    }),
    subcommand({
      name: 'answer',
      description: 'Write to a user in the name of the owner of the bot, as an answer to bot contact',
      access: OWNER,
      options: {
        user: option.user().describe('Whom, as a mention or id'),
        message: option.rest().max(LONGEST).describe('What you want to say'),
      },
      async run(ctx, { user, message }) {
        const content = () => [t('**Message from the owner of this bot:**'), quoted(message)].join('\n');
        if (!(await tell(user.id, content, `answer:${random.id()}`)))
          throw new UserError(t('That user takes no direct messages from me.'));
        return ctx.reply(t('I have passed it on.'));
      },
    }),
    subcommand({
      name: 'announce',
      description: 'Say something in all servers',
      help: 'In the channel that `set admin announcements` names, else in the one in which Discord greets new members.',
      access: OWNER,
      options: { message: option.rest().max(LONGEST).describe('What is said') },
      async run(ctx, { message }) {
        const { answers, missing } = await announceable.everywhere({});
        const places = answers.reduce((sum, one) => sum + one.places, 0);
        const without = answers.reduce((sum, one) => sum + one.without, 0);
        if (places === 0)
          throw new UserError(
            without === 0
              ? t('I am in no server, so there is nobody to announce it to.')
              : t(
                  'I can write in no channel for announcements: none of my {count, plural, one {# server} other {# servers}} has one.',
                  { count: without },
                ),
          );
        const key = `announce:${random.id()}`;
        return askFirst(ctx, {
          content: [
            t(
              'Say this in {servers, plural, one {# server} other {# servers}}? {without, plural, one {# has} other {# have}} no channel for it.\n{message}',
              { servers: places, without, message: plainText(message) },
            ),
            ...missingNote({ missing }),
          ].join('\n'),
          yes: t('Announce it'),
          async run() {
            const said = await announcing.everywhere({ message, key });
            const count = said.answers.reduce((sum, one) => sum + one.count, 0);
            const missed = said.answers.reduce((sum, one) => sum + one.missed, 0);
            audit.record({ actor: ctx.actor, act: `bot announce to ${count} servers (agreed)`, outcome: 'done' });
            const names = said.answers
              .flatMap((one) => one.names)
              .slice(0, NAMED)
              .map((name) => plainText(name));
            const notIn = t('Not in: {names}{more, plural, =0 {} other { and # more}}.', {
              names: names.join(', '),
              more: missed - names.length,
            });
            return [
              `${t('Said in {count} of {all} servers.', { count, all: count + missed })}${missed === 0 ? '' : ` ${notIn}`}`,
              ...missingNote(said),
            ].join('\n');
          },
        });
      },
    }),
  ];
}

/** Notifies the owners of the bot when it is added to or removed from a server, unless they have switched this off. */
export function registerServerNotices(context: AdminContext, all: AllServers): void {
  const { on, settings, services } = context;
  const { random } = services;
  const { tellOwners } = createMessenger(context);
  const notify = async (write: (servers: number) => string) => {
    if (!(await settings.global.get()).serverNotices) return;
    const servers = await all.count();
    await tellOwners(() => write(servers), `server:${random.id()}`);
  };
  on('guildCreate', ({ name, id, memberCount }) =>
    notify((servers) =>
      t(
        'I was added to **{name}** ({id}, {members, plural, one {# member} other {# members}}): {servers, plural, one {# server} other {# servers}} now.',
        {
          name: plainText(name),
          id,
          members: memberCount,
          servers,
        },
      ),
    ),
  );
  on('guildDelete', ({ name, id }) =>
    notify((servers) =>
      t('I am no longer in **{name}** ({id}): {servers, plural, one {# server} other {# servers}} now.', {
        name: plainText(name),
        id,
        servers,
      }),
    ),
  );
}

const quoted = (message: string) =>
  message
    .split('\n')
    .map((line) => `> ${plainText(visible(line))}`)
    .join('\n');

function createMessenger({ client, log, services, signal }: AdminContext) {
  const { access, clock, languages } = services;

  /** Sends a notice that pings no one. */
  const say = (channel: SendableChannels, content: string, key: string) =>
    sendText(channel, textMessages(asNotice(content)), key, { clock, signal });

  /** @returns whether it was sent */
  const attempt = async (task: () => Promise<unknown>, whom: string): Promise<boolean> => {
    try {
      await task();
      return true;
    } catch (error) {
      log.info('a message of a person could not be delivered', { whom, error });
      return false;
    }
  };

  /** Sends a direct message, in the language of the user. @returns whether it was sent */
  const tell = (userId: string, write: () => string, key: string) =>
    attempt(async () => {
      const content = await languages.speak({ guildId: null, userId }, write);
      await say(await client.users.createDM(userId), content, `${key}:${userId}`);
    }, userId);

  return {
    say,
    attempt,
    tell,
    /** @returns whether at least one of the owners received it */
    async tellOwners(write: () => string, key: string): Promise<boolean> {
      const owners = await access.owners();
      const sent = await Promise.all(owners.map((id) => tell(id, write, key)));
      return sent.includes(true);
    },
  };
}

/** The channel of Red's Admin cog for announcements. The plugin `roles` imports its self roles. */
export const announcementsOfRed = redImporter({
  from: 'Admin',
  data: z.strictObject({
    guild: z
      .strictObject({ announce_channel: z.string().nullable().optional(), selfroles: z.unknown().optional() })
      .prefault({}),
  }),
  async run({ guild: { announce_channel } }, context: ImportContext<typeof settings, typeof collections>) {
    if (typeof announce_channel !== 'string') return;
    const document = context.settings.guild(context.guildId);
    const what = `announce channel ${announce_channel}`;
    await importSetting({ document, schema: settings.guild }, 'announcements', announce_channel, what, context);
  },
});
