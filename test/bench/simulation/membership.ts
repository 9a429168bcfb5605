import { setTimeout as wait } from 'node:timers/promises';
import { clusterProcess, type OpenHost, type SharedDatabase, shareOfGroups } from '../../support/cluster-process.js';
import type { TestServer } from '../../support/postgres.js';
import { NO_LOG } from '../no-log.js';
import { stateOf } from './costs.js';

interface MembershipOptions {
  readonly machines: number;
  readonly groups: number;
  /** Duration of a group's start. */
  readonly startMs: number;
}

/** The costs of a cluster's leases, summed over all processes. */
export interface Membership {
  /** Time from the first start until each group was served. */
  readonly startedMs: number;
  /** Idle costs: transactions, processor time of the database, bytes of its journal, announcements. */
  readonly transactionsPerSecond: number;
  readonly cpuMsPerSecond: number;
  readonly walBytesPerSecond: number;
  /** Processor time of a process. */
  readonly processCpuMsPerSecond: number;
  /** How long each group of a process that died was not served. */
  readonly takeoversMs: readonly number[];
  /** Number of announcements from then until all processes had an even share. */
  readonly announcements: number;
  /** Time from SIGTERM until another process serves the last group. */
  readonly drainedMs: number;
  /** Time between a group's end at one process and its start at another, including that start. */
  readonly handOversMs: readonly number[];
}

const SCHEMA = 'bench';
const LOOK_EVERY_MS = 50;
/** PostgreSQL publishes its statistics with a delay. */
const COUNTED_AFTER_MS = 3_000;
const QUIET_S = 10;
const PATIENCE_MS = 120_000;
/** The connections of a process for its leases, and one for the storage of each host. */
const CONNECTIONS = 3;

/**
 * The leases of many processes on a real server and in real time, with the bot's own code but without the bots of the groups, whose start takes a given time.
 * One process dies, and one drains.
 */
export async function measureMembership(server: TestServer, options: MembershipOptions): Promise<Membership> {
  const { machines, groups } = options;
  const watching = clusterProcess({ url: server.url, schema: SCHEMA }, { poolSize: 1, log: NO_LOG });
  await watching.open();
  let announcements = 0;
  watching.onNews(() => {
    announcements += 1;
  });
  const served = createServed();
  const members = Array.from({ length: machines }, (_, index) =>
    openMember(server, `machine-${index}`, served, options),
  );
  try {
    const started = performance.now();
    await Promise.all(members.map((member) => member.start()));
    await until(() => served.count === groups);
    const startedMs = performance.now() - started;
    await until(() => isEven(members, groups));
    await wait(COUNTED_AFTER_MS);

    const before = await stateOf(watching.database.query);
    const [transactions, cpu] = [await transactionsOf(watching.database), process.cpuUsage()];
    await wait(QUIET_S * 1_000);
    const { user, system } = process.cpuUsage(cpu);
    const after = await stateOf(watching.database.query);
    const transactionsPerSecond = ((await transactionsOf(watching.database)) - transactions) / QUIET_S;

    announcements = 0;
    served.gaps.length = 0;
    const [dying, leaving, ...others] = members;
    const died = [...(dying?.groups() ?? [])];
    dying?.die();
    for (const group of died) served.end(group);
    await until(() => served.count === groups);
    await until(() => isEven([...others, ...(leaving === undefined ? [] : [leaving])], groups));
    const takeoversMs = served.gaps.splice(0);
    const announced = announcements;

    const drained = performance.now();
    await leaving?.stop();
    await until(() => served.count === groups);
    return {
      startedMs,
      transactionsPerSecond,
      cpuMsPerSecond: (after.cpuMs - before.cpuMs) / QUIET_S,
      walBytesPerSecond: (after.walBytes - before.walBytes) / QUIET_S,
      processCpuMsPerSecond: (user + system) / 1_000 / QUIET_S / machines,
      takeoversMs,
      announcements: announced,
      drainedMs: performance.now() - drained,
      handOversMs: served.gaps,
    };
  } finally {
    await Promise.all(members.map((member) => member.close()));
    await watching.close();
  }
}

type Served = ReturnType<typeof createServed>;

/** Records which groups are served, and for how long each was not. */
function createServed() {
  const gaps: number[] = [];
  const since = new Map<number, number>();
  const serving = new Set<number>();
  return {
    gaps,
    get count(): number {
      return serving.size;
    },
    begin(group: number) {
      const ended = since.get(group);
      if (ended !== undefined) gaps.push(performance.now() - ended);
      serving.add(group);
    },
    end(group: number) {
      since.set(group, performance.now());
      serving.delete(group);
    },
  };
}

interface SimulatedMember {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The process is silent from now on. */
  die(): void;
  close(): Promise<void>;
  groups(): readonly number[];
}

function openMember(
  { url }: TestServer,
  name: string,
  served: Served,
  { groups, startMs }: MembershipOptions,
): SimulatedMember {
  const place = { url, schema: SCHEMA };
  const process = clusterProcess(place, { poolSize: CONNECTIONS, log: NO_LOG });
  let isDead = false;
  const unlessDead = <T>(task: () => Promise<T>) => (isDead ? new Promise<T>(() => undefined) : task());
  const open = (group: number): ReturnType<OpenHost> => ({
    async start() {
      await wait(startMs);
      if (!isDead) served.begin(group);
    },
    async stop() {
      served.end(group);
    },
    notConnectedSince: undefined,
    ended: new Promise(() => undefined),
  });
  let cluster: ReturnType<typeof shareOfGroups> | undefined;
  return {
    async start() {
      await process.open();
      const { query, transaction } = process.database;
      const connections: typeof process.database = {
        ...process.database,
        query: (sql, values) => unlessDead(() => query(sql, values)),
        transaction: (body) => unlessDead(() => transaction(body)),
      };
      cluster = shareOfGroups({
        leases: await process.leases(name, { groups, connections }),
        groups,
        log: NO_LOG,
        open: ({ group }) => open(group),
        onNews: process.onNews,
      });
      await cluster.start();
    },
    async stop() {
      await cluster?.stop();
    },
    die() {
      isDead = true;
    },
    async close() {
      isDead = true;
      await process.close();
    },
    groups: () => cluster?.groups ?? [],
  };
}

function isEven(members: readonly SimulatedMember[], groups: number): boolean {
  const shares = members.map((member) => member.groups().length);
  const sum = shares.reduce((total, share) => total + share, 0);
  return sum === groups && Math.max(...shares) - Math.min(...shares) <= 1;
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > end) throw new Error('the processes do not come to rest');
    await wait(LOOK_EVERY_MS);
  }
}

async function transactionsOf({ query }: SharedDatabase): Promise<number> {
  const [row] = await query('SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()');
  return Number(row?.count);
}
