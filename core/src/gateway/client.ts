import { SimpleShardingStrategy, type WebSocketManager } from '@discordjs/ws';
import { Client, type ClientOptions, type GatewayIntentsString, IntentsBitField, Options, Partials } from 'discord.js';

export interface GatewayClient {
  readonly client: Client;
  readonly intents: readonly GatewayIntentsString[];
  /** Sets what the next login asks for. When already connected and something new is asked for, identifies again. */
  setIntents(wanted: readonly GatewayIntentsString[]): Promise<void>;
  /** The gateway connections, once there are any: for back-off. */
  manager(): WebSocketManager | undefined;
}

/** Keeps memory bounded on large bots; the chat plugin reads at most this many messages from the cache. */
const MESSAGES_PER_CHANNEL = 400;

/**
 * Builds the discord.js client. It exists before login, so that plugins can be set up first and the intents be the union of what they need.
 * @param discordApi REST base of a proxy or Discord-compatible server, without version
 */
export function createGatewayClient(discordApi: string | undefined): GatewayClient {
  let connections: WebSocketManager | undefined;
  const options: ClientOptions = {
    intents: [],
    // Reactions on old messages and direct messages arrive as partials: without these they would be dropped.
    partials: [Partials.Channel, Partials.Message, Partials.Reaction, Partials.User, Partials.GuildMember],
    allowedMentions: { parse: [], repliedUser: true },
    makeCache: Options.cacheWithLimits({ ...Options.DefaultMakeCacheSettings, MessageManager: MESSAGES_PER_CHANNEL }),
    ws: {
      buildStrategy: (manager) => {
        connections = manager;
        return new SimpleShardingStrategy(manager);
      },
    },
    ...(discordApi === undefined ? {} : { rest: { api: discordApi } }),
  };
  const client = new Client(options);

  return {
    client,
    get intents() {
      return client.options.intents.toArray();
    },
    async setIntents(wanted) {
      const bits = new IntentsBitField(wanted);
      if (client.options.intents.equals(bits)) return;
      const grown = !client.options.intents.has(bits);
      client.options.intents = bits;
      // Fewer events than asked for before do no harm until the next login; missing ones do.
      if (connections === undefined || !grown) return;
      connections.options.intents = bits.bitfield;
      await connections.destroy({ reason: 'Identifying with other intents' });
      await connections.connect();
    },
    manager: () => connections,
  };
}
