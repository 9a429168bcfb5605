import type { Metrics, Plugins, Tools } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { InFlight } from '../gateway/in-flight.js';
import type { ShardState } from './readiness.js';

interface Parts {
  readonly metrics: Metrics;
  readonly client: Client;
  readonly shards: () => readonly ShardState[];
  readonly inFlight: InFlight;
  readonly plugins: Plugins;
  readonly tools: Tools;
}

/** Declares what the host itself publishes, but for what its rooms count themselves. Commands count in `commands/`. */
export function publishHostMetrics(parts: Parts): void {
  publishGateway(parts);
  publishRest(parts);
  publishWork(parts);
}

function publishGateway({ metrics, client, shards }: Parts): void {
  metrics.gauge({
    name: 'gateway_shard_ready',
    help: 'Whether the connection of a shard to Discord is ready (1) or not (0).',
    labels: ['shard'],
    read: () => shards().map(({ id, status }) => [{ shard: String(id) }, status === 'Ready' ? 1 : 0]),
  });
  metrics.gauge({
    name: 'gateway_latency_seconds',
    help: 'Mean time from a heartbeat to its acknowledgement, over all shards; absent before the first.',
    // discord.js says -1 before the first.
    read: () => (client.ws.ping >= 0 ? client.ws.ping / 1000 : []),
  });
  metrics.gauge({
    name: 'guilds',
    help: 'Guilds that the bot is in.',
    read: () => client.guilds.cache.size,
  });
  const events = metrics.counter({
    name: 'gateway_connection_events_total',
    help: 'What became of gateway connections: reconnecting, resumed, identified (ready anew), closed (for good), failed.',
    labels: ['shard', 'event'],
  });
  const count = (shard: number, event: string) => events.add({ shard: String(shard), event });
  client.on('shardReconnecting', (shard) => count(shard, 'reconnecting'));
  client.on('shardResume', (shard) => count(shard, 'resumed'));
  client.on('shardReady', (shard) => count(shard, 'identified'));
  client.on('shardDisconnect', (_, shard) => count(shard, 'closed'));
  client.on('shardError', (_, shard) => count(shard, 'failed'));
}

function publishRest({ metrics, client }: Parts): void {
  const responses = metrics.counter({
    name: 'discord_rest_responses_total',
    help: "Answers of Discord's REST API, every attempt: status is the code, but 2xx and 3xx for any of those.",
    labels: ['method', 'status'],
  });
  client.rest.on('response', ({ method }, { status }) =>
    responses.add({ method, status: status < 400 ? `${Math.floor(status / 100)}xx` : String(status) }),
  );
}

function publishWork({ metrics, inFlight, plugins, tools }: Parts): void {
  metrics.gauge({
    name: 'handlers_in_flight',
    help: 'Handlers under way, by plugin.',
    labels: ['plugin'],
    read: () => inFlight.busy().map((plugin) => [{ plugin }, inFlight.count(plugin)]),
  });
  metrics.gauge({
    name: 'plugins',
    help: 'Plugins by state: running, stopped, failed, waiting.',
    labels: ['state'],
    read: () => plugins.list().map(({ state }) => [{ state }, 1]),
  });
  const calls = metrics.counter({
    name: 'tool_calls_total',
    help: 'Tool calls that are over, by outcome: done, denied, expired, failed.',
    labels: ['tool', 'outcome'],
  });
  tools.onSettled(({ tool, outcome }) => {
    // A model may ask for any name; only those that there are become a label.
    const isKnown = tools.list().some(({ name }) => name === tool);
    calls.add({ tool: isKnown ? tool : 'unknown', outcome: outcome.status });
  });
}
