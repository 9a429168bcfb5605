import {
  asNotice,
  createAskFirst,
  findSendableIn,
  option,
  plainText,
  type Subcommand,
  sendText,
  subcommand,
  t,
  textMessages,
  UserError,
  visible,
} from '@cinnabar/sdk';
import type { Guild, SendableChannels } from 'discord.js';
import type { AdminContext } from './context.js';

const OWNER = { tier: 'botOwner' } as const;
const HOUR_MS = 60 * 60_000;
const LONGEST = 1_500;

/** `!bot contact` and `!bot announce`: words to the owner of the bot, and the owner's to all servers. */
export function messageCommands(context: AdminContext): readonly Subcommand[] {
  const { client, component, log, settings, services, signal } = context;
  const { access, audit, clock, random } = services;
  const askFirst = createAskFirst({ component, ...services, name: 'bot-announce', access: OWNER });

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

  /** Where a server reads announcements: the channel that its admins chose, else the one in which Discord greets. */
  const channelOf = async (guild: Guild): Promise<SendableChannels | undefined> => {
    const id = (await settings.guild(guild).get()).announcements ?? guild.systemChannelId;
    return id === null ? undefined : findSendableIn(client, guild.id, id);
  };

  return [
    subcommand({
      name: 'contact',
      description: 'Write to the owner of the bot',
      cooldown: { uses: 2, perMs: HOUR_MS },
      options: { message: option.rest().max(LONGEST).describe('What you want to say') },
      async run(ctx, { message }) {
        const place = ctx.guild === null ? t('in a direct message') : plainText(ctx.guild.name);
        const owners = await access.owners();
        const key = `contact:${random.id()}`;
        const content = [
          t('**Message from {name}** ({id}), {place}:', { name: plainText(ctx.user.username), id: ctx.user.id, place }),
          ...message.split('\n').map((line) => `> ${plainText(visible(line))}`),
        ].join('\n');
        const sent = await Promise.all(
          owners.map((id) =>
            attempt(async () => say(await (await client.users.fetch(id)).createDM(), content, `${key}:${id}`), id),
          ),
        );
        if (!sent.includes(true)) throw new UserError(t('The owner of the bot cannot be reached at the moment.'));
        return ctx.reply(t('I have passed it on to the owner of the bot.'));
      },
    }),
    subcommand({
      name: 'announce',
      description: 'Say something in all servers',
      help: 'In the channel that `set admin announcements` names, else in the one in which Discord greets new members.',
      access: OWNER,
      options: { message: option.rest().max(LONGEST).describe('What is said') },
      async run(ctx, { message }) {
        const found = await Promise.all(
          client.guilds.cache.map(async (guild) => ({ guild, channel: await channelOf(guild) })),
        );
        const places = found.flatMap(({ channel }) => channel ?? []);
        const without = found.length - places.length;
        const key = `announce:${random.id()}`;
        return askFirst(ctx, {
          content: t(
            'Say this in {servers, plural, one {# server} other {# servers}}? {without} have no channel for it.\n{message}',
            {
              servers: places.length,
              without,
              message: plainText(message),
            },
          ),
          yes: t('Announce it'),
          async run() {
            const sent = await Promise.all(
              places.map((channel) => attempt(() => say(channel, message, `${key}:${channel.id}`), channel.id)),
            );
            const count = sent.filter(Boolean).length;
            audit.record({ actor: ctx.actor, act: `bot announce to ${count} servers (agreed)`, outcome: 'done' });
            return t('Said in {count} of {all} servers.', { count, all: found.length });
          },
        });
      },
    }),
  ];
}
