import type { Clock } from '@cinnabar/sdk';
import type { WebSocketManager } from '@discordjs/ws';
// From discord.js, since a module of our own would be a second copy of all that it needs, in the other module format.
import {
  Client,
  type ClientOptions,
  type GatewayIntentsString,
  IntentsBitField,
  Partials,
  SimpleShardingStrategy,
} from 'discord.js';
import { cacheOptions, sweepDirectMessages } from './caches.js';
import { createIdentifyThrottler } from './identify-throttler.js';

export interface GatewayClient {
  readonly client: Client;
  readonly intents: readonly GatewayIntentsString[];
  /** Sets what the next login asks for. When already connected and something new is asked for, identifies again. */
  setIntents(wanted: readonly GatewayIntentsString[]): Promise<void>;
  /** Ends the connections for good. */
  close(): Promise<void>;
  /** The gateway connections, once there are any: for back-off. */
  manager(): WebSocketManager | undefined;
}

/**
 * Builds the discord.js client. It exists before login, so that plugins can be set up first and the intents be the union of what they need.
 * @param discordApi REST base of a proxy or Discord-compatible server, without version
 */
export function createGatewayClient(discordApi: string | undefined, clock: Clock): GatewayClient {
  let connections: WebSocketManager | undefined;
  let identifiedWith = new IntentsBitField();
  const options: ClientOptions = {
    intents: [],
    // Reactions on old messages and direct messages arrive as partials: without these they would be dropped.
    partials: [Partials.Channel, Partials.Message, Partials.Reaction, Partials.User, Partials.GuildMember],
    allowedMentions: { parse: [], repliedUser: true },
    ...cacheOptions(),
    ws: {
      buildStrategy: (manager) => {
        connections = manager;
        return new SimpleShardingStrategy(manager);
      },
      buildIdentifyThrottler: (manager) => {
        identifiedWith = new IntentsBitField(manager.options.intents);
        return createIdentifyThrottler(clock, async () => {
          const { session_start_limit: limit } = await manager.fetchGatewayInformation();
          return limit.max_concurrency;
        });
      },
    },
    ...(discordApi === undefined ? {} : { rest: restOptions(discordApi) }),
  };
  const client = new Client(options);
  const stopSweeping = sweepDirectMessages(client);

  return {
    client,
    get intents() {
      return client.options.intents.toArray();
    },
    async setIntents(wanted) {
      const bits = new IntentsBitField(wanted);
      client.options.intents = bits;
      // More events than needed do no harm until the next login; missing ones do.
      if (connections === undefined || identifiedWith.has(bits)) return;
      connections.options.intents = bits.bitfield;
      identifiedWith = bits;
      await connections.destroy({ reason: 'Identifying with other intents' });
      await connections.connect();
    },
    async close() {
      // A shard that is between two connections overlooks destroy() and would connect again, but it asks for its session first.
      if (connections !== undefined) connections.options.retrieveSessionInfo = () => new Promise(() => undefined);
      stopSweeping();
      await client.destroy();
    },
    manager: () => connections,
  };
}

/** A server on this machine, a rate-limiting proxy or the local Discord, says itself when it has had enough. */
function restOptions(api: string): NonNullable<ClientOptions['rest']> {
  const { hostname } = new URL(api);
  const local = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  return local ? { api, globalRequestsPerSecond: Number.MAX_SAFE_INTEGER } : { api };
}
