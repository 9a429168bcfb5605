import {
  CinnabarError,
  type Counter,
  type CounterDefinition,
  type GaugeDefinition,
  type Histogram,
  type HistogramDefinition,
  type Logger,
  type MetricDefinition,
  type MetricLabels,
  type MetricReading,
  type Metrics,
  type Plugins,
  type Tools,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Counter as PromCounter, Gauge as PromGauge, Registry } from 'prom-client';
import type { Owner } from '../contracts.js';
import type { InFlight } from '../gateway/boundary.js';
import type { GatewayStatus } from '../gateway/status.js';

/** Loaded only while metrics are published. */
type Prom = typeof import('prom-client');

/** Metrics of the host and of every plugin. Until `open` they are declared, but not counted. */
export interface MetricsService {
  /** The metrics of the host: `commands_total` is published as `cinnabar_commands_total`. */
  readonly host: Metrics;
  /** Metrics of one run of a plugin. */
  of(owner: Pick<Owner, 'id' | 'scope'>): Metrics;
  /** Starts counting. */
  open(): Promise<void>;
  /** Everything in Prometheus' text format. @throws Error before `open` */
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** A metric of the library, created when counting starts. */
interface Declared {
  readonly plugin: string;
  attach(prom: Prom, registry: Registry): void;
}

/** The arguments of the library's constructors. */
interface Configuration {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
}

type Labels = MetricLabels<string>;

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const PREFIX = 'cinnabar_';
/** Maximum number of label sets of one metric: https://prometheus.io/docs/practices/instrumentation/#do-not-overuse-labels */
const MOST_SERIES = 200;
const LONGEST_VALUE = 100;
const DISCORD_ID = /\d{15,22}/;
const OTHER = 'other';
/** Resolution of the event loop's lag, in ms. */
const LAG_PRECISION_MS = 20;

/**
 * @param log gets an entry for each metric that fails
 * @param group the group of the host, when a process has several: added as a label, and metrics of the process are left out
 */
export function createMetrics(log: Logger, group?: number): MetricsService {
  const declared = new Map<string, Declared>();
  let opened: { readonly prom: Prom; readonly registry: Registry } | undefined;

  const add = (name: string, metric: Declared) => {
    const holder = declared.get(name)?.plugin;
    if (holder !== undefined) throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'metric', name, plugin: holder });
    // Throws for a metric that the library cannot publish: the name stays free then.
    if (opened !== undefined) metric.attach(opened.prom, opened.registry);
    declared.set(name, metric);
  };
  const remove = (name: string) => {
    declared.delete(name);
    opened?.registry.removeSingleMetric(name);
  };

  return {
    host: metricsOf('host', PREFIX, add),
    of({ id, scope }) {
      return metricsOf(id, `${PREFIX}${id.replaceAll('-', '_')}_`, (name, metric) => {
        let taken = false;
        // Comes first, since a closed scope throws.
        scope.add(`metric ${name}`, () => {
          if (taken) remove(name);
        });
        add(name, metric);
        taken = true;
      });
    },
    async open() {
      if (opened !== undefined) return;
      const { default: prom } = await import('prom-client');
      const registry = new prom.Registry();
      if (group === undefined)
        prom.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
      else registry.setDefaultLabels({ group: String(group) });
      opened = { prom, registry };
      for (const metric of declared.values()) metric.attach(prom, registry);
    },
    async render() {
      if (opened === undefined) throw new Error('metrics are not published');
      return { contentType: opened.registry.contentType, body: await opened.registry.metrics() };
    },
  };

  function metricsOf(plugin: string, prefix: string, declare: (name: string, metric: Declared) => void): Metrics {
    const define = (
      { name, help, labels = [] }: MetricDefinition<string>,
      make: (prom: Prom, configuration: Configuration) => void,
    ) => {
      if (!NAME.test(name)) throw invalid(name, 'it must be lower case letters, digits and _, starting with a letter');
      const bad = labels.find((label) => !NAME.test(label));
      if (bad !== undefined) throw invalid(name, `its label ${bad} must be lower case letters, digits and _, too`);
      const full = `${prefix}${name}`;
      const attach = (prom: Prom, registry: Registry) =>
        make(prom, { name: full, help, labelNames: [...labels], registers: [registry] });
      declare(full, { plugin, attach });
    };

    return {
      counter(definition: CounterDefinition<string>): Counter<string> {
        if (!definition.name.endsWith('_total')) throw invalid(definition.name, 'a counter ends in _total');
        let count: Counter<string>['add'] | undefined;
        const { read } = definition;
        define(definition, (prom, configuration) => {
          if (read !== undefined) {
            const counted: PromCounter = new prom.Counter({
              ...configuration,
              collect: () => collect(counted, configuration, read),
            });
            return;
          }
          const counter = new prom.Counter(configuration);
          const bounded = boundSeries();
          count = (labels, by = 1) => attempt(configuration.name, () => counter.inc(bounded(labels), by));
        });
        return { add: (labels, by) => count?.(labels, by) };
      },
      histogram(definition: HistogramDefinition<string>): Histogram<string> {
        let observe: Histogram<string>['observe'] | undefined;
        define(definition, (prom, configuration) => {
          const histogram = new prom.Histogram({ ...configuration, buckets: [...definition.buckets] });
          const bounded = boundSeries();
          observe = (labels, value) => attempt(configuration.name, () => histogram.observe(bounded(labels), value));
        });
        return { observe: (labels, value) => observe?.(labels, value) };
      },
      gauge(definition: GaugeDefinition<string>) {
        define(definition, (prom, configuration) => {
          const read = () => {
            const value = definition.read();
            return typeof value === 'number' ? [[{}, value] as const] : value;
          };
          const gauge: PromGauge = new prom.Gauge({
            ...configuration,
            collect: () => collect(gauge, configuration, read),
          });
        });
      },
    };
  }

  function collect(
    metric: PromCounter | PromGauge,
    { name }: Configuration,
    read: () => Iterable<MetricReading<string>>,
  ): void {
    metric.reset();
    const bounded = boundSeries();
    // Adds the values, since several label sets may become `other`.
    attempt(name, () => {
      for (const [labels, value] of read()) metric.inc(bounded(labels), value);
    });
  }

  /** A metric that fails, for instance because of an undeclared label, must affect neither its plugin's work nor other metrics. */
  function attempt(metric: string, task: () => void): void {
    try {
      task();
    } catch (error) {
      log.warn('a metric failed', { metric, error });
    }
  }
}

function invalid(name: string, detail: string): CinnabarError {
  return new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'metric', name, detail });
}

/** Limits the number of series: replaces ids, cuts long values, and turns further label sets into `other`. */
function boundSeries(): (labels: Labels) => Labels {
  const seen = new Set<string>();
  return (labels) => {
    const bounded = mapValues(labels, (value) => (DISCORD_ID.test(value) ? OTHER : value.slice(0, LONGEST_VALUE)));
    const key = JSON.stringify(bounded);
    if (seen.has(key)) return bounded;
    if (seen.size >= MOST_SERIES) return mapValues(labels, () => OTHER);
    seen.add(key);
    return bounded;
  };
}

function mapValues(labels: Labels, change: (value: string) => string): Labels {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, change(value)]));
}

interface HostSources {
  readonly metrics: Metrics;
  readonly client: Client;
  readonly gateway: GatewayStatus;
  readonly inFlight: InFlight;
  readonly plugins: Plugins;
  readonly tools: Tools;
}

/** Declares the host's metrics, except those that its services count themselves. Commands count in `commands/`. */
export function publishHostMetrics(parts: HostSources): void {
  publishGateway(parts);
  publishRest(parts);
  publishWork(parts);
}

function publishGateway({ metrics, client, gateway }: HostSources): void {
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
  metrics.counter({
    name: 'gateway_events_total',
    help: 'Events that Discord has sent, by shard.',
    labels: ['shard'],
    read: () => gateway.shards.map(({ id }) => [{ shard: String(id) }, gateway.eventsOf(id)]),
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

function publishRest({ metrics, client }: HostSources): void {
  const responses = metrics.counter({
    name: 'discord_rest_responses_total',
    help: "Answers of Discord's REST API, every attempt: status is the code, but 2xx and 3xx for any of those.",
    labels: ['method', 'status'],
  });
  client.rest.on('response', ({ method }, { status }) =>
    responses.add({ method, status: status < 400 ? `${Math.floor(status / 100)}xx` : String(status) }),
  );
}

function publishWork({ metrics, inFlight, plugins, tools }: HostSources): void {
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
    // A model may request any name; only names of existing tools become a label.
    const isKnown = tools.list().some(({ name }) => name === tool);
    calls.add({ tool: isKnown ? tool : 'unknown', outcome: outcome.status });
  });
}
