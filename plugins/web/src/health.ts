import {
  type Clock,
  type Monitoring,
  missingSentences,
  type Question,
  type Registrar,
  t,
  type WebBlock,
  type WebMeasure,
  type WebRow,
  type WebValue,
} from '@cinnabar/sdk';
import type { Connections } from './connections.js';

/** Three hours, at four samples a minute. */
const SAMPLE_MS = 15_000;
const MOST_SAMPLES = 720;
const MINUTE_MS = 60_000;

/** One reading of the metrics that `/metrics` publishes. */
interface Sample {
  readonly at: number;
  readonly residentBytes: number;
  readonly lagSeconds: number;
  readonly inFlight: number;
  readonly events: number;
  /** The latency of the slowest shard. */
  readonly latencySeconds: number;
  /** The total time of all model requests. */
  readonly modelSeconds: number;
  readonly commands: number;
  readonly failedCommands: number;
  readonly tools: number;
  readonly modelRequests: number;
  readonly restRefused: number;
}

/** Keeps the latest samples while the server listens. */
export function createHealthHistory(monitoring: Monitoring, clock: Pick<Clock, 'now'>) {
  const samples: Sample[] = [];
  let underWay: readonly UnderWay[] = [];
  return {
    get samples(): readonly Sample[] {
      return samples;
    },
    /** The handlers that were running at the latest sample. */
    get underWay(): readonly UnderWay[] {
      return underWay;
    },
    async sample(): Promise<void> {
      const page = await monitoring.page('/metrics');
      if (page === undefined) return;
      samples.push({ at: clock.now(), ...readMetrics(page.body) });
      if (samples.length > MOST_SAMPLES) samples.shift();
      underWay = readUnderWay(page.body);
    },
  };
}

/** The number of running commands, events and other handlers per plugin. */
interface UnderWay {
  readonly plugin: string;
  readonly count: number;
}

type History = ReturnType<typeof createHealthHistory>;

const LINE = /^([a-z_]+)(?:\{([^}]*)\})? ([-+.\deE]+)$/gm;

/** Adds up the values of each metric, in the text format of Prometheus. https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function readMetrics(text: string): Omit<Sample, 'at'> {
  const lines = [...text.matchAll(LINE)].map(([, name = '', labels = '', value = '0']) => ({
    name,
    labels,
    value: Number(value),
  }));
  const sum = (wanted: string, fits: (labels: string) => boolean = () => true) =>
    lines.reduce((all, { name, labels, value }) => (name === wanted && fits(labels) ? all + value : all), 0);
  return {
    residentBytes: sum('process_resident_memory_bytes'),
    lagSeconds: sum('nodejs_eventloop_lag_p99_seconds'),
    inFlight: sum('cinnabar_handlers_in_flight'),
    events: sum('cinnabar_gateway_events_total'),
    latencySeconds: Math.max(
      0,
      ...lines.filter(({ name }) => name === 'cinnabar_gateway_latency_seconds').map(({ value }) => value),
    ),
    modelSeconds: sum('cinnabar_llm_request_seconds_sum'),
    commands: sum('cinnabar_commands_total'),
    failedCommands: sum('cinnabar_commands_total', (labels) => /outcome="(?:failed|unanswered)"/.test(labels)),
    tools: sum('cinnabar_tool_calls_total'),
    modelRequests: sum('cinnabar_llm_requests_total'),
    restRefused: sum('cinnabar_discord_rest_responses_total', (labels) => /status="(?:429|5\d\d)"/.test(labels)),
  };
}

const readUnderWay = (text: string): readonly UnderWay[] =>
  [...text.matchAll(/^cinnabar_handlers_in_flight\{plugin="([^"]*)"\} (\d+)$/gm)].map(
    ([, plugin = '', count = '0']) => ({ plugin, count: Number(count) }),
  );

const PAGE = 'web/health';
/** Parts of the page that its query string can show alone. */
const PARTS = { shards: 'shards', underWay: 'under-way' } as const;
const linkTo = (part: (typeof PARTS)[keyof typeof PARTS]) => ({ page: PAGE, query: { part } });
const SERVERS = { page: 'admin/servers' };

/** The bot's health, for its owner: the connections of all processes; everything else of the process that serves the dashboard. */
export function registerHealthPage(
  { page, every }: Pick<Registrar, 'page' | 'every'>,
  history: History,
  connections: Question<Record<never, never>, Connections>,
): void {
  every(SAMPLE_MS, history.sample);
  const look = async () => {
    const [all] = await Promise.all([connections.everywhere({}), history.sample()]);
    return all;
  };
  page({
    name: 'health',
    title: 'Health',
    description: 'How the process and its connections are doing; plots hold three hours.',
    about: 'bot',
    group: 'operation',
    access: { tier: 'botOwner' },
    async view({ query }) {
      const all = await look();
      const { samples } = history;
      if (query.part === PARTS.shards) return { title: t('Connections'), blocks: [shards(all.answers)] };
      if (query.part === PARTS.underWay) return { title: t('Under way'), blocks: [underWayTable(history.underWay)] };
      return {
        blocks: [
          ...missingSentences(all).map((text): WebBlock => ({ kind: 'notice', tone: 'warning', text })),
          figures(all.answers, samples),
          ...processes(all.answers),
          ...plots(samples),
          shards(all.answers),
        ],
      };
    },
    watch(_, changed) {
      const end = every(SAMPLE_MS, changed);
      return () => void end();
    },
    async card() {
      const { answers } = await look();
      return [figures(answers, history.samples)];
    },
  });
}

function figures(all: readonly Connections[], samples: readonly Sample[]): WebBlock {
  const latest = samples.at(-1);
  return {
    kind: 'figures',
    figures: [
      { name: t('Connections'), value: readyOf(all), link: linkTo(PARTS.shards) },
      {
        name: t('Servers'),
        value: { count: all.reduce((sum, { servers }) => sum + servers, 0), link: SERVERS },
      },
      { name: t('Memory in use'), value: { bytes: latest?.residentBytes ?? 0 } },
      { name: t('Under way'), value: { count: latest?.inFlight ?? 0, link: linkTo(PARTS.underWay) } },
      { name: t('Wait of the event loop, 99 %'), value: { durationMs: Math.round((latest?.lagSeconds ?? 0) * 1_000) } },
    ],
  };
}

function readyOf(all: readonly Connections[]): WebMeasure {
  const shards = all.flatMap((one) => one.shards);
  const ready = shards.filter(({ isReady }) => isReady).length;
  const isWhole = ready === shards.length && ready > 0;
  return { badge: t('{ready} of {all}', { ready, all: shards.length }), tone: isWhole ? 'good' : 'bad' };
}

/** The processes of a cluster; empty when one process serves the bot. */
function processes(all: readonly Connections[]): readonly WebBlock[] {
  const [own, ...others] = all;
  if (own === undefined || own.process === '') return [];
  const names = [...new Set([own, ...others].map((one) => one.process))];
  return [
    {
      kind: 'table',
      title: t('Processes'),
      columns: [
        { name: t('Process') },
        { name: t('Connections') },
        { name: t('Servers'), numeric: true },
        { name: t('Memory in use'), numeric: true },
      ],
      rows: names.map((name): WebRow => {
        const parts = all.filter((one) => one.process === name);
        const bytes = Math.max(...parts.map(({ residentBytes }) => residentBytes));
        const servers = parts.reduce((sum, one) => sum + one.servers, 0);
        return {
          id: name,
          cells: [
            name,
            readyOf(parts),
            serversOf(
              servers,
              parts.flatMap((one) => one.shards.map(({ id }) => id)),
            ),
            { bytes },
          ],
        };
      }),
      empty: t('There is no connection to Discord.'),
    },
    { kind: 'text', text: t('The plots, and what is under way, are of the process {name}.', { name: own.process }) },
  ];
}

function plots(samples: readonly Sample[]): readonly WebBlock[] {
  const empty = t('Nothing has been measured yet.');
  /** The increase of a counter within a minute; it starts at zero after a restart. */
  const rate = (of: (sample: Sample) => number) =>
    samples.slice(1).map((sample, index) => {
      const before = samples[index] ?? sample;
      const minutes = Math.max(1, sample.at - before.at) / MINUTE_MS;
      return [sample.at, Math.max(0, of(sample) - of(before)) / minutes] as const;
    });
  /** The average time of a model request, in minutes that had any. */
  const modelMs = () =>
    samples.slice(1).flatMap((sample, index) => {
      const before = samples[index] ?? sample;
      const [requests, seconds] = [
        sample.modelRequests - before.modelRequests,
        sample.modelSeconds - before.modelSeconds,
      ];
      return requests > 0 && seconds >= 0 ? [[sample.at, (seconds / requests) * 1_000] as const] : [];
    });
  const points = (of: (sample: Sample) => number) => samples.map((sample) => [sample.at, of(sample)] as const);
  const isThere = samples.length > 1;
  return [
    {
      kind: 'plot',
      title: t('In a minute'),
      style: 'lines',
      unit: 'number',
      series: isThere
        ? [
            { name: t('commands'), points: rate(({ commands }) => commands) },
            { name: t('requests to models'), points: rate(({ modelRequests }) => modelRequests) },
            { name: t('calls of tools'), points: rate(({ tools }) => tools) },
          ]
        : [],
      empty,
    },
    {
      kind: 'plot',
      title: t('Events of Discord, in a minute'),
      style: 'lines',
      unit: 'number',
      series: isThere ? [{ name: t('events'), points: rate(({ events }) => events) }] : [],
      empty,
    },
    {
      kind: 'plot',
      title: t('What went wrong, in a minute'),
      style: 'lines',
      unit: 'number',
      series: isThere
        ? [
            { name: t('commands that failed'), points: rate(({ failedCommands }) => failedCommands) },
            { name: t('requests that Discord refused'), points: rate(({ restRefused }) => restRefused) },
          ]
        : [],
      empty,
    },
    {
      kind: 'plot',
      title: t('How long it takes'),
      style: 'lines',
      unit: 'ms',
      series: isThere
        ? [
            {
              name: t('a heartbeat to Discord and back'),
              points: points(({ latencySeconds }) => latencySeconds * 1_000),
            },
            { name: t('an answer of a model'), points: modelMs() },
          ]
        : [],
      empty,
    },
    {
      kind: 'plot',
      title: t('Memory in use'),
      style: 'lines',
      unit: 'bytes',
      series: isThere ? [{ name: t('resident'), points: points(({ residentBytes }) => residentBytes) }] : [],
      empty,
    },
    {
      kind: 'plot',
      title: t('Wait of the event loop'),
      style: 'lines',
      unit: 'ms',
      series: isThere ? [{ name: t('99 %'), points: points(({ lagSeconds }) => lagSeconds * 1_000) }] : [],
      empty,
    },
  ];
}

function underWayTable(underWay: readonly UnderWay[]): WebBlock {
  return {
    kind: 'table',
    columns: [{ name: t('Plugin') }, { name: t('Under way'), numeric: true }],
    rows: underWay
      .filter(({ count }) => count > 0)
      .map(({ plugin, count }) => ({
        id: plugin,
        cells: [plugin, { count, link: { page: 'admin/log', query: { component: plugin } } }],
      })),
    empty: t('Nothing is under way at the moment.'),
  };
}

function shards(all: readonly Connections[]): WebBlock {
  const known = all.flatMap(({ process, shards: own }) => own.map((shard) => ({ ...shard, process })));
  const isShared = known.some(({ process }) => process !== '');
  return {
    kind: 'table',
    title: t('Shards'),
    columns: [
      { name: t('Shard') },
      ...(isShared ? [{ name: t('Process') }] : []),
      { name: t('State') },
      { name: t('Latency'), numeric: true },
      { name: t('Servers'), numeric: true },
    ],
    rows: known
      .sort((one, other) => one.id - other.id)
      .map(
        ({ id, isReady, latencyMs, servers, process }): WebRow => ({
          id: String(id),
          cells: [
            String(id),
            ...(isShared ? [process] : []),
            { badge: isReady ? t('connected') : t('not connected'), tone: isReady ? 'good' : 'bad' },
            latencyMs === null ? null : { durationMs: latencyMs },
            serversOf(servers, [id]),
          ],
        }),
      ),
    empty: t('There is no connection to Discord.'),
  };
}

/** The number of servers per shard. */
const serversOf = (count: number, shardIds: readonly number[]): WebValue => ({
  count,
  link: { ...SERVERS, query: { shards: shardIds.join() } },
});
