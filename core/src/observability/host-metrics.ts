import type { MetricReading, Metrics, Plugins, Tools } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { InFlight } from '../gateway/boundary.js';
import type { GatewayStatus } from '../gateway/status.js';

interface Parts {
  readonly metrics: Metrics;
  readonly client: Client;
  readonly gateway: GatewayStatus;
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

function publishGateway({ metrics, client, gateway }: Parts): void {
  metrics.gauge({
    name: 'gateway_shard_state',
    help: 'State of each shard: 1 for the one that it is in (waiting, connecting, ready, refused, stopped).',
    labels: ['shard', 'state'],
    read: () => gateway.shards.map(({ id, state }) => [{ shard: String(id), state }, 1]),
  });
  metrics.gauge({
    name: 'gateway_ready',
    help: 'Whether every shard is ready (1) or not (0).',
    read: () => (gateway.ready ? 1 : 0),
  });
  metrics.gauge({
    name: 'gateway_latency_seconds',
    help: 'From the latest heartbeat to its acknowledgement, by shard.',
    labels: ['shard'],
    read: () =>
      gateway.shards.flatMap(({ id, latencyMs }): readonly MetricReading<'shard'>[] =>
        latencyMs === undefined ? [] : [[{ shard: String(id) }, latencyMs / 1000]],
      ),
  });
  metrics.gauge({
    name: 'guilds',
    help: 'Guilds that the bot is in.',
    read: () => client.guilds.cache.size,
  });
  const events = metrics.counter({
    name: 'gateway_connection_events_total',
    help: 'What became of gateway connections: attempted, resumed, identified (a new session), closed.',
    labels: ['shard', 'event'],
  });
  gateway.onChange((change) => {
    if (change.kind === 'unreachable') return;
    const shard = String(change.shard.id);
    if (change.kind === 'connecting') events.add({ shard, event: 'attempted' });
    else if (change.kind === 'closed') events.add({ shard, event: 'closed' });
    else events.add({ shard, event: change.resumed ? 'resumed' : 'identified' });
  });
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
