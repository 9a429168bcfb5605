import { type ClientOptions, GatewayIntentBits, Options, Partials } from 'discord.js';

/**
 * What a bot needs to hear all that ours hears (direct messages and reactions to old messages arrive as partials) and to remember as much.
 * Without it a peer would be compared for work that it does not do.
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
