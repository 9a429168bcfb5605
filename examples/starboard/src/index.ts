import { Clock, definePlugin, sendOnce, z } from '@cinnabar/sdk';

const star = z.object({ authorId: z.string(), stars: z.number() });

/** Shows messages with enough ⭐ in a channel that the admins choose, each once. */
export default definePlugin({
  manifest: {
    id: 'starboard',
    version: '0.1.0',
    description: 'Shows starred messages in a channel',
    intents: ['Guilds', 'GuildMessages', 'GuildMessageReactions', 'MessageContent'],
    permissions: ['ViewChannel', 'SendMessages', 'ReadMessageHistory'],
  },
  settings: {
    guild: z.object({
      channel: z
        .string()
        .optional()
        .describe('Where starred messages are shown; nowhere when it is not set')
        .meta({ kind: 'channel' }),
      stars: z.number().int().min(1).max(100).default(3).describe('How many ⭐ it takes'),
    }),
  },
  collections: {
    starred: {
      scope: 'message',
      version: 2,
      schema: star,
      // Version 1 called the field `author`.
      migrations: { 2: (document) => migrated.parse(document) },
      personal: { by: 'authorId' },
    },
  },
  inject: { clock: Clock },
  setup({ on, settings, collections, services, signal }) {
    on('messageReactionAdd', async (reaction) => {
      if (reaction.emoji.name !== '⭐') return;
      const { guild } = reaction.message;
      if (guild === null) return;
      const { channel, stars } = await settings.guild(guild).get();
      const board = channel === undefined ? undefined : guild.channels.cache.get(channel);
      const { count } = await reaction.fetch();
      if (!board?.isSendable() || count < stars) return;
      const document = collections.starred.of(reaction.message);
      const shown = await document.find();
      if (shown !== undefined) return document.set({ ...shown, stars: count });
      const message = await reaction.message.fetch();
      // A message that not everyone may read is not shown.
      if (message.channel.isDMBased() || !message.channel.permissionsFor(guild.id)?.has('ViewChannel')) return;
      await sendOnce(
        board,
        {
          content: `⭐ ${message.author} in ${message.channel}: ${message.url}\n${message.content.slice(0, 1500)}`,
          allowedMentions: { parse: [] },
        },
        `star:${message.id}`,
        { clock: services.clock, signal },
      );
      return document.set({ authorId: message.author.id, stars: count });
    });
  },
});

const migrated = z
  .object({ author: z.string(), stars: z.number() })
  .transform(({ author, stars }) => ({ authorId: author, stars }));
