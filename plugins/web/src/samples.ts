import { type Clock, type Monitoring, type Question, type Registrar, z } from '@cinnabar/sdk';

/** The id of this plugin. */
const ID = 'web';

/** Samples of three hours, at four a minute. */
export const SAMPLE_MS = 15_000;
const MOST_SAMPLES = 720;
/** A process that does not answer within this time has no value in that round. */
const DEADLINE_MS = 4_000;

const reading = z.object({
  residentBytes: z.number(),
  lagSeconds: z.number(),
  inFlight: z.number(),
  events: z.number(),
  /** Latency of the slowest shard. */
  latencySeconds: z.number(),
  /** Total time of all requests to models so far. */
  modelSeconds: z.number(),
  commands: z.number(),
  failedCommands: z.number(),
  tools: z.number(),
  modelRequests: z.number(),
  restRefused: z.number(),
  /** The number of running commands, events and other handlers of each plugin. */
  underWay: z.array(z.object({ plugin: z.string(), count: z.number() })),
});

/** One reading of the metrics that `/metrics` publishes. */
export type Reading = z.output<typeof reading>;
/** A stored reading. */
export interface Sample extends Omit<Reading, 'underWay'> {
  readonly at: number;
}

/** The samples of one process. The name is empty when one process serves the bot. */
export interface ProcessHistory {
  readonly process: string;
  readonly samples: readonly Sample[];
  /** The latest reading; `undefined` when the process did not answer in the latest round. */
  readonly now: Reading | undefined;
}

/** Asks every process of the bot for its metrics. */
export function askReadings(
  { question }: Pick<Registrar, 'question'>,
  monitoring: Monitoring,
): Question<Record<never, never>, Reading> {
  return question({
    name: 'reading',
    input: z.object({}),
    answer: reading,
    deadlineMs: DEADLINE_MS,
    // The reading itself is a running handler.
    run: async () => readMetrics((await monitoring.page('/metrics'))?.body ?? ''),
  });
}

export type HealthHistory = ReturnType<typeof createHealthHistory>;

/** Keeps the latest samples of all processes while the server listens. */
export function createHealthHistory(readings: Question<Record<never, never>, Reading>, clock: Pick<Clock, 'now'>) {
  const histories = new Map<string, Sample[]>();
  let latest: ReadonlyMap<string, Reading> = new Map();
  let missing: readonly string[] = [];
  return {
    /** Sorted by name, with the processes that have ended in the last hours. */
    get processes(): readonly ProcessHistory[] {
      return [...histories]
        .map(([process, samples]) => ({ process, samples, now: latest.get(process) }))
        .sort((one, other) => one.process.localeCompare(other.process));
    },
    /** The time of the first sample; `undefined` before there is one, and once older samples have been dropped. */
    get since(): number | undefined {
      const all = [...histories.values()];
      return all.some(({ length }) => length >= MOST_SAMPLES) ? undefined : earliest(all);
    },
    /** Names of processes that did not answer in the latest round. */
    get missing(): readonly string[] {
      return missing;
    },
    async sample(): Promise<void> {
      const round = await readings.eachProcess({});
      const at = clock.now();
      latest = new Map(round.answers.map(({ process = '', answer }) => [process, answer]));
      missing = round.missing;
      for (const [process, { underWay: _, ...values }] of latest) {
        const samples = histories.get(process) ?? [];
        histories.set(process, samples);
        samples.push({ at, ...values });
        if (samples.length > MOST_SAMPLES) samples.shift();
      }
      for (const [process, samples] of histories)
        if (at - (samples.at(-1)?.at ?? 0) > MOST_SAMPLES * SAMPLE_MS) histories.delete(process);
    },
  };
}

function earliest(all: readonly (readonly Sample[])[]): number | undefined {
  const times = all.flatMap(([first]) => first?.at ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

const LINE = /^([a-z_]+)(?:\{([^}]*)\})? ([-+.\deE]+)$/gm;

/** Adds up the values of each metric, in the text format of Prometheus. https://prometheus.io/docs/instrumenting/exposition_formats/ */
function readMetrics(text: string): Reading {
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
    inFlight: Math.max(0, sum('cinnabar_handlers_in_flight') - 1),
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
    underWay: underWayOf(lines),
  };
}

/** Sums over the groups of a process, since a plugin runs once for each. The reading itself is not counted. */
function underWayOf(lines: readonly { name: string; labels: string; value: number }[]): Reading['underWay'] {
  const counts = new Map([[ID, -1]]);
  for (const { name, labels, value } of lines) {
    const plugin = /plugin="([^"]*)"/.exec(labels)?.[1];
    if (name === 'cinnabar_handlers_in_flight' && plugin !== undefined)
      counts.set(plugin, (counts.get(plugin) ?? 0) + value);
  }
  return [...counts].map(([plugin, count]) => ({ plugin, count }));
}
