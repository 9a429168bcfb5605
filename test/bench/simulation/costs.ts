import { readFileSync } from 'node:fs';
import type { GatewayReadyDispatchData } from 'discord.js';
import { clusterProcess, heldLease } from '../../support/cluster-process.js';
import type { TestServer } from '../../support/postgres.js';
import { NO_LOG } from '../no-log.js';
import { exampleGuild } from './example-guild.js';

/** The operations of a cluster in its database. */
export const OPERATIONS = [
  /** Stores the progress of a group's shards. */
  'session',
  /** An additional server in that write. */
  'guild',
  /** Reads a stored server. */
  'snapshot',
  /** Claims an event, and completes it. */
  'claim',
  'claim-end',
  /** A document that other processes cache: a setting, or a document of a plugin. */
  'document',
  /** A line of a journal: audit, ledger, receipts. */
  'line',
  /** Takes requests from the limit that Discord allows per second. */
  'budget',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The costs of an operation at the database server. */
export interface Cost {
  /** Processor time of all of its processes together. */
  readonly cpuMs: number;
  readonly walBytes: number;
  readonly isWrite: boolean;
  /** Whether it sends a NOTIFY. */
  readonly isAnnounced: boolean;
}

export type Costs = Readonly<Record<Operation, Cost>>;

export interface Measured {
  readonly costs: Costs;
  /** Duration of a commit with a minimal change. */
  readonly flushMs: number;
  /** Documents written per second by concurrent writers: announced ones, and ones that are not cached. */
  readonly announcedPerSecond: number;
  readonly unannouncedPerSecond: number;
  /** Processor time of an announcement in each process that receives it. */
  readonly heardUs: number;
  /** A server in its stored form. */
  readonly guildBytes: number;
  /** Loads a server of a group that is taken over, up to the object for discord.js. */
  readonly loadedMs: number;
}

const SCHEMA = 'bench';
const TIMES = 1_000;
const WARM_UP = 200;
const GUILDS = 500;
/** Enough servers in one write to measure the difference of one. */
const AT_ONCE = 20;
/** Enough writers to keep a disk busy. */
const WRITERS = 16;
const TOGETHER_MS = 3_000;
const SHARD = 0;
const SHARD_COUNT = 1;
const FIRST_ID = 10n ** 18n;
const idOf = (index: number) => String(FIRST_ID + (BigInt(index) << 22n));

/** Measures each operation with the bot's own code, one after another, on an otherwise idle server. */
export async function measureCosts(server: TestServer): Promise<Measured> {
  await using process = clusterProcess({ url: server.url, schema: SCHEMA }, { poolSize: WRITERS, log: NO_LOG });
  await process.open();
  await process.database.query(`INSERT INTO ${SCHEMA}.leases (group_number, token) VALUES (0, 1)`);
  return await measure(process);
}

type Process = ReturnType<typeof clusterProcess>;
type Database = Process['database'];
type GuildChanges = Parameters<ReturnType<Process['sessions']>['save']>[1];

async function measure(process: Process): Promise<Measured> {
  const { database } = process;
  const lease = heldLease();
  const claims = process.claims(lease);
  const store = process.sessions(lease, SHARD_COUNT);
  const driver = process.driver(0, 1, lease);
  const limits = process.limits();
  const journal = driver.journal(['bench', 'journals', 'audit']);
  const bodies = Array.from({ length: GUILDS }, (_, index) => exampleGuild(idOf(index)));
  const guilds = (from: number, count: number): GuildChanges =>
    new Map(
      Array.from({ length: count }, (_, index) => {
        const at = (from + index) % GUILDS;
        return [idOf(at), { shardId: SHARD, guild: JSON.parse(bodies[at] ?? '') }];
      }),
    );
  const shard = (sequence: number) => ({
    shardId: SHARD,
    session: { sessionId: 'a'.repeat(32), resumeURL: 'wss://gateway.example', sequence, shardId: SHARD, shardCount: 1 },
    intents: undefined,
    ready: undefined,
  });
  const text = 'What a plugin keeps of a server. '.repeat(8);
  const asked = (index: number) => ({
    id: idOf(index),
    guildId: idOf(0),
    channelId: idOf(1),
    userId: idOf(2),
  });

  const ready: GatewayReadyDispatchData = JSON.parse('{ "v": 10, "guilds": [] }');
  await store.save([{ ...shard(0), intents: 0, ready }], new Map());
  for (let at = 0; at < GUILDS; at += AT_ONCE) await store.save([shard(0)], guilds(at, AT_ONCE));
  const costOf = (run: (index: number) => Promise<unknown>, times = TIMES) => measureOne(database, run, times);

  const session = await costOf((index) => store.save([shard(index)], new Map()));
  const saved = await costOf((index) => store.save([shard(index)], guilds(index * AT_ONCE, AT_ONCE)), TIMES / 10);
  const snapshot = await costOf((index) => store.guilds([idOf(index % GUILDS)]));
  // Each command is claimed and completed.
  const both = await costOf((index) => claims.run(asked(index), () => 'answered'));
  const begun = await costOf((index) => claims.run(asked(TIMES * 2 + index), () => 'unanswered'));
  const pathOf = (kind: string, index: number) => ['bench', kind, 'guild', 'counters', idOf(index % GUILDS)];
  const written = { version: 1, data: { text } };
  const document = await costOf((index) => driver.write(pathOf('collections', index), written));
  const line = await costOf((index) => journal.add(`${JSON.stringify({ index, text })}\n`));
  const budget = await costOf(() => limits.take('requests', 3, { lastsMs: 1_100, left: 50 }));
  const tiny = await costOf(() => database.query(`SELECT pg_logical_emit_message(true, 'bench', '')`));
  const unflushed = await costOf(() =>
    database.query(`SELECT set_config('synchronous_commit', 'off', true), pg_logical_emit_message(true, 'bench', '')`),
  );

  const started = performance.now();
  const [loaded] = (await store.load([SHARD])).values();
  const loadedMs = (performance.now() - started) / (loaded?.guilds.size ?? 0);

  const announced = { isWrite: true, isAnnounced: true };
  const logged = { isWrite: true, isAnnounced: false };
  const only = { isWrite: false, isAnnounced: false };
  const less = (whole: Taken, part: Taken, among = 1): Taken => ({
    cpuMs: (whole.cpuMs - part.cpuMs) / among,
    walBytes: (whole.walBytes - part.walBytes) / among,
    tookMs: (whole.tookMs - part.tookMs) / among,
  });
  const cost = ({ cpuMs, walBytes }: Taken, kind: Pick<Cost, 'isWrite' | 'isAnnounced'>): Cost => ({
    cpuMs,
    walBytes,
    ...kind,
  });
  return {
    costs: {
      session: cost(session, logged),
      guild: cost(less(saved, session, AT_ONCE), logged),
      snapshot: cost(snapshot, only),
      claim: cost(begun, logged),
      'claim-end': cost(less(both, begun), logged),
      document: cost(document, announced),
      line: cost(line, logged),
      // The table is not logged, but the transaction ends with a commit as well.
      budget: cost(budget, logged),
    },
    flushMs: Math.max(0, tiny.tookMs - unflushed.tookMs),
    announcedPerSecond: await perSecond((index) => driver.write(pathOf('collections', index), written)),
    unannouncedPerSecond: await perSecond((index) => driver.write(pathOf('tool-calls', index), written)),
    heardUs: await heardBy(database),
    guildBytes: Buffer.byteLength(bodies[0] ?? ''),
    loadedMs,
  };
}

interface Taken {
  readonly cpuMs: number;
  readonly walBytes: number;
  readonly tookMs: number;
}

async function measureOne(
  { query }: Database,
  run: (index: number) => Promise<unknown>,
  times: number,
): Promise<Taken> {
  for (let index = 0; index < WARM_UP && index < times; index++) await run(index);
  const before = await stateOf(query);
  const started = performance.now();
  for (let index = 0; index < times; index++) await run(WARM_UP + index);
  const tookMs = performance.now() - started;
  const after = await stateOf(query);
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / times,
    walBytes: (after.walBytes - before.walBytes) / times,
    tookMs: tookMs / times,
  };
}

/** The usage of the server so far: processor time of its processes, and its journal (WAL). */
export async function stateOf(query: Database['query']): Promise<Omit<Taken, 'tookMs'>> {
  const rows = await query('SELECT pid FROM pg_stat_activity');
  const [wal] = await query(`SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes`);
  return { cpuMs: rows.reduce((sum, { pid }) => sum + cpuMsOf(Number(pid)), 0), walBytes: Number(wal?.bytes) };
}

/** https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat */
function cpuMsOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    // The process has ended meanwhile.
    return 0;
  }
}

async function perSecond(run: (index: number) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let index = writer; performance.now() - started < TOGETHER_MS; index += WRITERS) {
        await run(index);
        done += 1;
      }
    }),
  );
  return (done / (performance.now() - started)) * 1_000;
}

const ANNOUNCEMENTS = 20_000;

/** A driver's listening connection; the host of each group has one. */
async function heardBy(database: Database): Promise<number> {
  const driver = database.driver();
  let heard = 0;
  const all = new Promise<void>((resolve) => {
    driver.shared?.listen({
      changed() {
        heard += 1;
        if (heard === ANNOUNCEMENTS) resolve();
      },
      missed: async () => undefined,
    });
  });
  const before = process.cpuUsage();
  await database.query(
    `SELECT pg_notify('${SCHEMA}', n || '@${idOf(0)}@writer bench/collections/guild/counters/' || n) FROM generate_series(1, ${ANNOUNCEMENTS}) AS n`,
  );
  await all;
  const { user, system } = process.cpuUsage(before);
  await driver.close();
  return (user + system) / ANNOUNCEMENTS;
}
