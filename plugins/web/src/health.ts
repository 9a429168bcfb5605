import {
  type HostInfo,
  missingSentences,
  type Question,
  type Registrar,
  t,
  type WebBlock,
  type WebMeasure,
  type WebRow,
  type WebValue,
  z,
} from '@cinnabar/sdk';
import { type Client, Status } from 'discord.js';
import { type HealthHistory, type ProcessHistory, type Reading, SAMPLE_MS, type Sample } from './samples.js';

const MINUTE_MS = 60_000;

const PAGE = 'web/health';
/** Parts of the page that its query string can show separately. */
const PARTS = { shards: 'shards', underWay: 'under-way' } as const;
const linkTo = (part: (typeof PARTS)[keyof typeof PARTS]) => ({ page: PAGE, query: { part } });
const SERVERS = { page: 'admin/servers' };

/** Registers the page about the health of all processes of the bot, for its owner. */
export function registerHealthPage(
  { page, every }: Pick<Registrar, 'page' | 'every'>,
  history: HealthHistory,
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
      const { processes, missing } = history;
      const processesIn = ({ process }: typeof query) =>
        process === undefined ? processes : processes.filter((one) => one.process === process);
      if (query.part === PARTS.shards) return { title: t('Connections'), blocks: [shards(all.answers)] };
      if (query.part === PARTS.underWay) return { title: t('Under way'), blocks: [underWayTable(processesIn(query))] };
      const incomplete =
        missing.length === 0
          ? missingSentences(all)
          : missing.map((name) =>
              t('The process {name} does not answer at the moment, so its part is missing here.', { name }),
            );
      return {
        blocks: [
          ...incomplete.map((text): WebBlock => ({ kind: 'notice', tone: 'warning', text })),
          figures(all.answers, processes),
          ...processTable(all.answers, processes, missing),
          ...beginOf(history),
          ...plots(processes),
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
      return [figures(answers, history.processes)];
    },
  });
}

/** Totals of all processes; for the wait of the event loop, the longest. */
function figures(all: readonly Connections[], processes: readonly ProcessHistory[]): WebBlock {
  const now = processes.flatMap((one) => one.now ?? []);
  const sum = (of: (one: Reading) => number) => now.reduce((total, one) => total + of(one), 0);
  return {
    kind: 'figures',
    figures: [
      { name: t('Connections'), value: readyOf(all), link: linkTo(PARTS.shards) },
      {
        name: t('Servers'),
        value: { count: all.reduce((total, { servers }) => total + servers, 0), link: SERVERS },
      },
      { name: t('Memory in use'), value: { bytes: sum(({ residentBytes }) => residentBytes) } },
      { name: t('Under way'), value: { count: sum(({ inFlight }) => inFlight), link: linkTo(PARTS.underWay) } },
      { name: t('Wait of the event loop, 99 %'), value: waitOf(now) },
    ],
  };
}

const waitOf = (all: readonly Reading[]) => ({
  durationMs: Math.round(Math.max(0, ...all.map(({ lagSeconds }) => lagSeconds)) * 1_000),
});

function readyOf(all: readonly Connections[]): WebMeasure {
  const shards = all.flatMap((one) => one.shards);
  const ready = shards.filter(({ isReady }) => isReady).length;
  const isWhole = ready === shards.length && ready > 0;
  return { badge: t('{ready} of {all}', { ready, all: shards.length }), tone: isWhole ? 'good' : 'bad' };
}

/** The processes of a cluster; empty when a single process serves the bot. */
function processTable(
  all: readonly Connections[],
  processes: readonly ProcessHistory[],
  missing: readonly string[],
): readonly WebBlock[] {
  const connected = all.map(({ process }) => process).filter((name) => name !== '');
  const names = new Set([...connected, ...missing]);
  if (names.size === 0) return [];
  return [
    {
      kind: 'table',
      title: t('Processes'),
      columns: [
        { name: t('Process') },
        { name: t('Connections') },
        { name: t('Servers'), numeric: true },
        { name: t('Memory in use'), numeric: true },
        { name: t('Under way'), numeric: true },
        { name: t('Wait of the event loop, 99 %'), numeric: true },
      ],
      rows: [...names]
        .sort((one, other) => one.localeCompare(other))
        .map((name): WebRow => {
          const parts = all.filter(({ process }) => process === name);
          const { now } = processes.find(({ process }) => process === name) ?? {};
          const shardIds = parts.flatMap((one) => one.shards.map(({ id }) => id));
          const servers = parts.reduce((sum, one) => sum + one.servers, 0);
          return {
            id: name,
            cells: [
              name,
              missing.includes(name) ? { badge: t('does not answer'), tone: 'bad' } : readyOf(parts),
              parts.length === 0 ? null : serversOf(servers, shardIds),
              now === undefined ? null : { bytes: now.residentBytes },
              now === undefined
                ? null
                : { count: now.inFlight, link: { page: PAGE, query: { part: PARTS.underWay, process: name } } },
              now === undefined ? null : waitOf([now]),
            ],
          };
        }),
      empty: t('There is no connection to Discord.'),
    },
  ];
}

/** The start of the plots, if they cover less than their full period. */
function beginOf({ since }: Pick<HealthHistory, 'since'>): readonly WebBlock[] {
  if (since === undefined) return [];
  const hint = t(
    'They are kept in memory, and begin anew when the bot is restarted and, in a cluster, when another process takes group 0 over. A monitoring system keeps more.',
  );
  return [{ kind: 'facts', facts: [{ name: t('The plots begin'), value: { time: since }, hint }] }];
}

type Points = readonly (readonly [time: number, value: number])[];

/** A plot, and the lines that it draws from the samples of one process. */
interface Measured {
  readonly title: string;
  readonly unit: Extract<WebBlock, { kind: 'plot' }>['unit'];
  readonly lines: readonly { readonly name: string; readonly points: (samples: readonly Sample[]) => Points }[];
}

/** In a cluster each line becomes a separate plot with one line per process. */
function plots(processes: readonly ProcessHistory[]): readonly WebBlock[] {
  const known = processes.filter(({ samples }) => samples.length > 1);
  const isShared = processes.some(({ process }) => process !== '');
  return measured().flatMap(({ title, unit, lines }) => {
    const plot = { kind: 'plot', style: 'lines', unit, empty: t('Nothing has been measured yet.') } as const;
    if (!isShared) {
      const series = known.flatMap(({ samples }) =>
        lines.map(({ name, points }) => ({ name, points: points(samples) })),
      );
      return [{ ...plot, title, series }];
    }
    return lines.map(({ name, points }) => ({
      ...plot,
      title: lines.length === 1 ? title : t('{plot}: {line}', { plot: title, line: name }),
      series: known.map(({ process, samples }) => ({ name: process, points: points(samples) })),
    }));
  });
}

function measured(): readonly Measured[] {
  return [
    {
      title: t('In a minute'),
      unit: 'number',
      lines: [
        { name: t('commands'), points: rateOf(({ commands }) => commands) },
        { name: t('requests to models'), points: rateOf(({ modelRequests }) => modelRequests) },
        { name: t('calls of tools'), points: rateOf(({ tools }) => tools) },
      ],
    },
    {
      title: t('Events of Discord, in a minute'),
      unit: 'number',
      lines: [{ name: t('events'), points: rateOf(({ events }) => events) }],
    },
    {
      title: t('What went wrong, in a minute'),
      unit: 'number',
      lines: [
        { name: t('commands that failed'), points: rateOf(({ failedCommands }) => failedCommands) },
        { name: t('requests that Discord refused'), points: rateOf(({ restRefused }) => restRefused) },
      ],
    },
    {
      title: t('How long it takes'),
      unit: 'ms',
      lines: [
        {
          name: t('a heartbeat to Discord and back'),
          points: readingOf(({ latencySeconds }) => latencySeconds * 1_000),
        },
        { name: t('an answer of a model'), points: modelMs },
      ],
    },
    {
      title: t('Memory in use'),
      unit: 'bytes',
      lines: [{ name: t('resident'), points: readingOf(({ residentBytes }) => residentBytes) }],
    },
    {
      title: t('Wait of the event loop'),
      unit: 'ms',
      lines: [{ name: t('99 %'), points: readingOf(({ lagSeconds }) => lagSeconds * 1_000) }],
    },
  ];
}

const readingOf =
  (of: (sample: Sample) => number) =>
  (samples: readonly Sample[]): Points =>
    samples.map((sample) => [sample.at, of(sample)]);

/** The increase of a counter within a minute; it starts at zero after a restart. */
const rateOf =
  (of: (sample: Sample) => number) =>
  (samples: readonly Sample[]): Points =>
    samples.slice(1).map((sample, index) => {
      const before = samples[index] ?? sample;
      const minutes = Math.max(1, sample.at - before.at) / MINUTE_MS;
      return [sample.at, Math.max(0, of(sample) - of(before)) / minutes];
    });

/** Average time of a request to a model, in ms; no point without requests. */
const modelMs = (samples: readonly Sample[]): Points =>
  samples.slice(1).flatMap((sample, index) => {
    const before = samples[index] ?? sample;
    const requests = sample.modelRequests - before.modelRequests;
    const seconds = sample.modelSeconds - before.modelSeconds;
    return requests > 0 && seconds >= 0 ? [[sample.at, (seconds / requests) * 1_000] as const] : [];
  });

function underWayTable(processes: readonly ProcessHistory[]): WebBlock {
  const isShared = processes.some(({ process }) => process !== '');
  return {
    kind: 'table',
    columns: [
      ...(isShared ? [{ name: t('Process') }] : []),
      { name: t('Plugin') },
      { name: t('Under way'), numeric: true },
    ],
    rows: processes.flatMap(({ process, now }) =>
      (now?.underWay ?? [])
        .filter(({ count }) => count > 0)
        .map(({ plugin, count }) => ({
          id: `${process} ${plugin}`,
          cells: [
            ...(isShared ? [process] : []),
            plugin,
            { count, link: { page: 'admin/log', query: { component: plugin } } },
          ],
        })),
    ),
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

const shard = z.object({
  id: z.number(),
  isReady: z.boolean(),
  /** `null` until it was measured. */
  latencyMs: z.number().nullable(),
  servers: z.number(),
});

const connections = z.object({
  /** The name of the process; empty when one process serves the bot. */
  process: z.string(),
  /** Memory of the whole process, which may also run other parts of the bot. */
  residentBytes: z.number(),
  servers: z.number(),
  shards: z.array(shard),
});
type Connections = z.output<typeof connections>;

/** Asks every process of the bot for its connections to Discord. */
export function askConnections(
  { client, question }: Pick<Registrar, 'client' | 'question'>,
  host: Pick<HostInfo, 'member'>,
): Question<Record<never, never>, Connections> {
  return question({
    name: 'connections',
    input: z.object({}),
    answer: connections,
    run: () => ({
      process: host.member ?? '',
      residentBytes: process.memoryUsage.rss(),
      servers: client.guilds.cache.size,
      shards: shardsOf(client),
    }),
  });
}

function shardsOf({ ws, guilds }: Client): Connections['shards'] {
  const servers = new Map<number, number>();
  for (const { shardId } of guilds.cache.values()) servers.set(shardId, (servers.get(shardId) ?? 0) + 1);
  return ws.shards.map(({ id, ping, status }) => ({
    id,
    isReady: status === Status.Ready,
    latencyMs: ping < 0 ? null : ping,
    servers: servers.get(id) ?? 0,
  }));
}
