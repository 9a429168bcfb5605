import { type Clock, maxEntries, type Random } from '@cinnabar/sdk';
import { Collection } from '@discordjs/collection';
import {
  type IShardingStrategy,
  type WebSocketManager,
  WebSocketShardEvents,
  WebSocketShardStatus,
} from '@discordjs/ws';
import { ChannelType, GatewayDispatchEvents, type GatewayDispatchPayload } from 'discord.js';
import { LRUCache } from 'lru-cache';

import type { IdentifyLimits } from './identify-limits.js';
import type { GatewayInformation } from './information.js';
import { createShard, type Shard } from './shard.js';
import type { GatewayStatusStore } from './status.js';

interface Parts {
  readonly manager: WebSocketManager;
  readonly information: GatewayInformation;
  readonly limits: IdentifyLimits;
  readonly status: GatewayStatusStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Discord has opened a session with these intents. */
  readonly onAccepted: (intents: number) => void;
  /** Whether Discord wants no further attempt after such a close. @param asked the intents of the last session that was asked for */
  readonly isFatal: (code: number, reason: string, asked: number) => boolean;
}

export interface Sharding extends IShardingStrategy {
  /** Opens a new session for each shard, with what is asked for then; one after another, so that the others go on hearing. */
  identifyAnew(): void;
}

/**
 * Runs discord.js' shards in loops of the host's own. Those of @discordjs/ws connect again at once, several times over when told to connect
 * meanwhile, and give up sessions that could be resumed.
 */
export function createSharding({
  manager,
  information,
  limits,
  status,
  clock,
  random,
  onAccepted,
  isFatal,
}: Parts): Sharding {
  const shards = new Map<number, Shard>();
  const admits = createInteractionIntake();
  let renewal: Promise<void> = Promise.resolve();

  const withParameters = (url: string) => {
    const parameters = new URLSearchParams({ v: manager.options.version, encoding: 'json' });
    return `${url}?${parameters}`;
  };
  // A listener that throws, perhaps a plugin's, must neither look like a broken connection nor end the loop of the shard: it is reported as a
  // promise that failed.
  const announce = async (emit: () => unknown) => {
    emit();
  };

  const build = (shardId: number, shardCount: number): Shard => {
    // Others may be wanted by the time that Discord answers.
    let asked = 0;
    return createShard({
      id: shardId,
      shardCount,
      identity() {
        const { token, intents, identifyProperties, largeThreshold, initialPresence } = manager.options;
        asked = intents;
        return {
          token,
          intents,
          properties: identifyProperties,
          compress: false,
          ...(largeThreshold === null ? {} : { large_threshold: largeThreshold }),
          ...(initialPresence === null ? {} : { presence: initialPresence }),
        };
      },
      async address(tried) {
        const { url } = tried ? await information.refreshed() : await information.get();
        return withParameters(url);
      },
      withParameters,
      limits,
      clock,
      random,
      report: status.shard(shardId),
      isFatal: (code, reason) => isFatal(code, reason, asked),
      events: {
        hello: () => void announce(() => manager.emit(WebSocketShardEvents.Hello, { shardId })),
        ready(data) {
          onAccepted(asked);
          void announce(() => manager.emit(WebSocketShardEvents.Ready, { data, shardId }));
        },
        resumed: () => void announce(() => manager.emit(WebSocketShardEvents.Resumed, { shardId })),
        dispatch(data) {
          if (admits(data)) void announce(() => manager.emit(WebSocketShardEvents.Dispatch, { data, shardId }));
        },
        closed: (code) => void announce(() => manager.emit(WebSocketShardEvents.Closed, { code, shardId })),
        heartbeat: (heartbeatAt, latency) =>
          void announce(() =>
            manager.emit(WebSocketShardEvents.HeartbeatComplete, {
              ackAt: heartbeatAt + latency,
              heartbeatAt,
              latency,
              shardId,
            }),
          ),
        session: (session) => void manager.options.updateSessionInfo(shardId, session),
      },
    });
  };

  return {
    async spawn(shardIds) {
      const shardCount = await manager.getShardCount();
      for (const id of shardIds) shards.set(id, build(id, shardCount));
    },
    connect() {
      for (const shard of shards.values()) shard.start();
    },
    async destroy() {
      await Promise.all([...shards.values()].map((shard) => shard.stop()));
      shards.clear();
    },
    async send(shardId, payload) {
      const shard = shards.get(shardId);
      if (shard === undefined) throw new RangeError(`There is no shard ${shardId}.`);
      await shard.send(payload);
    },
    fetchStatus: () =>
      new Collection(
        [...shards].map(([id, { ready }]) => [
          id,
          ready ? WebSocketShardStatus.Ready : WebSocketShardStatus.Connecting,
        ]),
      ),
    identifyAnew() {
      renewal = renewal.then(async () => {
        for (const shard of shards.values()) await shard.identifyAnew();
      });
    },
  };
}

/**
 * Looks at each interaction before discord.js does. One without a `channel` gets one from its `channel_id`, which discord.js does not look at.
 * @returns whether discord.js may have it: one that has been delivered before is dropped, whatever made it come twice
 */
function createInteractionIntake(): (payload: GatewayDispatchPayload) => boolean {
  const seen = new LRUCache<string, true>(maxEntries(REMEMBERED));
  return (payload) => {
    if (payload.t !== GatewayDispatchEvents.InteractionCreate) return true;
    const { id, channel_id: channelId, channel } = payload.d;
    if (seen.has(id)) return false;
    seen.set(id, true);
    // The type does not matter: with neither guild nor recipients discord.js finds the channel in its cache, or leaves it to be fetched.
    if (channel === undefined && channelId !== undefined)
      payload.d.channel = { id: channelId, type: ChannelType.GuildText };
    return true;
  };
}

/** Far more than arrive in the 15 minutes for which an interaction can be answered. */
const REMEMBERED = 20_000;
