import { type ClientOptions, GatewayIntentBits, Options, Partials } from 'discord.js';

/**
 * The options with which a bot receives the same events as Cinnabar (direct messages and reactions to old messages arrive as partials) and caches as much.
 * Without them a peer would do less work.
 */
export function equalOptions(api: string) {
  return {
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.MessageContent,
      GatewayIntentBits.GuildMessageReactions,
      GatewayIntentBits.DirectMessages,
      GatewayIntentBits.DirectMessageReactions,
    ],
    partials: [Partials.Channel, Partials.Message, Partials.Reaction, Partials.User, Partials.GuildMember],
    makeCache: Options.cacheWithLimits({ ...Options.DefaultMakeCacheSettings, MessageManager: 100 }),
    rest: { api },
  } satisfies ClientOptions;
}
