import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createFileDriver, createPostgresDriver, createSystemClock, type Driver } from '@cinnabar/core';
import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalGuild,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import { ShardClientUtil } from 'discord.js';
import { type TestServer, testServer } from '../support/postgres.js';
import { type BotProcess, startBot } from './bot-process.js';
import { divided } from './divided.js';
import { NO_LOG } from './no-log.js';
import { compare, type Figure, limit, median, percentile } from './report.js';
import { learnSyncedLists, pathOfSyncedLists, type SyncedLists, syncedIn, writeSyncedLists } from './synced-lists.js';

/** Numbers of guilds; `BENCH_GUILDS=1000,5000` for a machine with less memory. */
const SIZES = (process.env.BENCH_GUILDS ?? '1000,5000,20000').split(',').map(Number);
const PROCESSES = [1, 2, 4] as const;
/** The default number of groups of a cluster. */
const GROUPS = 4;
const SHARDS = 16;
const MEMBERS = 10;
/** Messages of the warm-up, for each process. */
const WARM_UP = 5_000;
const TURNS = 5;
const PER_TURN = 2_000;
const BATCH = 250;
const PATIENCE_MS = 300_000;
/** Idle processor time: the median of this number of windows. Some time after much traffic V8 collects garbage, within one of them. */
const IDLE_WINDOWS = 5;
const IDLE_MS = 4_000;
const LOOK_EVERY_MS = 250;
/** Time limit, for a machine with other load. */
const SETTLED_MS = 60_000;
/** The cluster is idle when each process uses less than this share of a processor in that many consecutive windows. */
const IDLE_SHARE = 0.08;
const IDLE_LOOKS = 6;
/** Time limit of a takeover, as in the campaign `cluster` with 200 servers. */
const TAKEN_OVER_S = 10;
const MIB = 1024 * 1024;
const KIB = 1024;

/** A bot in a real configuration: one process on files, or several in a cluster. */
type Shape = 'files' | (typeof PROCESSES)[number];
const SHAPES: readonly Shape[] = ['files', ...PROCESSES];

interface Measured {
  /** Processor time of a message that is not for the bot, summed over all processes, less their idle time. */
  readonly cpuUs: number;
  /** Idle processor time per second. */
  readonly idleUs: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** Time from the death of one of several processes until the others serve its groups, including the time until its leases expire. */
  readonly takeoverMs: number | undefined;
}

/**
 * Compares a cluster with one process on files, in the same guilds: processor time of a message, and memory. Then measures writes with both drivers, and the
 * delay until another connection sees a change.
 */
export async function* scale(): AsyncGenerator<Figure> {
  const known = new Map<string, Measured>();
  for (const size of SIZES) {
    const world = await createWorld(size);
    try {
      for (const shape of SHAPES) known.set(`${shape} ${size}`, await measure(shape, world));
    } finally {
      await world.discord.close();
    }
    yield* figuresOf(size, (shape) => known.get(`${shape} ${size}`));
  }
  const [smallest = 0, largest = 0] = [Math.min(...SIZES), Math.max(...SIZES)];
  if (largest > smallest) yield* perGuild(known, smallest, largest);
  yield* writes();
  yield await seenElsewhere();
}

const nameOf = (shape: Shape) => (shape === 1 ? 'a cluster of 1 process' : `a cluster of ${shape} processes`);

function* figuresOf(size: number, of: (shape: Shape) => Measured | undefined): Generator<Figure> {
  const files = of('files');
  for (const shape of PROCESSES) {
    const ours = of(shape);
    if (ours === undefined || files === undefined) continue;
    const where = `${nameOf(shape)} in ${size.toLocaleString('en-US')} guilds`;
    const peerName = 'one process on files';
    yield compare({ name: `${where}: a message`, unit: 'µs CPU', ours: ours.cpuUs, peer: files.cpuUs, peerName });
    yield compare({
      name: `${where}: all processes, in quiet`,
      unit: 'ms CPU/s',
      ours: ours.idleUs / 1_000,
      peer: files.idleUs / 1_000,
      peerName,
    });
    const memory = [
      ['heap', 'heapBytes'],
      ['resident memory', 'rssBytes'],
    ] as const;
    for (const [what, figure] of memory)
      yield compare({
        name: `${where}: ${what} of all processes`,
        unit: 'MiB',
        ours: ours[figure] / MIB,
        peer: files[figure] / MIB,
        peerName,
      });
    if (ours.takeoverMs !== undefined)
      yield limit(
        `${where}: killed one, until the others serve its guilds`,
        's',
        ours.takeoverMs / 1_000,
        TAKEN_OVER_S,
      );
  }
}

/** The costs of one more guild: the difference between two sizes, which excludes the costs of a process without guilds. */
function* perGuild(known: ReadonlyMap<string, Measured>, smallest: number, largest: number): Generator<Figure> {
  const grown = (shape: Shape) => {
    const [small, large] = [known.get(`${shape} ${smallest}`), known.get(`${shape} ${largest}`)];
    return ((large?.heapBytes ?? 0) - (small?.heapBytes ?? 0)) / (largest - smallest) / KIB;
  };
  for (const shape of PROCESSES)
    yield compare({
      name: `${nameOf(shape)}: heap of a guild of ${MEMBERS}`,
      unit: 'KiB',
      ours: grown(shape),
      peer: grown('files'),
      peerName: 'one process on files',
    });
}

async function measure(shape: Shape, world: World): Promise<Measured> {
  const { discord, application, guilds, known } = world;
  const folders: string[] = [];
  const bots: BotProcess[] = [];
  await using database = shape === 'files' ? undefined : await testServer('on');
  const start = async (index: number) => {
    const folder = mkdtempSync(join(tmpdir(), 'cinnabar-bench-scale-'));
    folders.push(folder);
    if (database === undefined) writeSyncedLists(syncedIn(known, guilds, application), application, folder);
    const env = database === undefined ? {} : { DATABASE_URL: database.url, CINNABAR_MEMBER: `process-${index}` };
    const args = database === undefined ? ['start'] : ['start', '--cluster'];
    bots.push(await startBot('cinnabar', discord, application, folder, env, args));
  };
  try {
    if (database !== undefined) await storeSyncedLists(database, world);
    for (let index = 0; index < (shape === 'files' ? 1 : shape); index++) await start(index);
    if (database !== undefined) await divided(database, bots.length, GROUPS);
    await settled(bots);
    await talk(world, WARM_UP * bots.length);
    // The first message of a guild loads its stored data.
    await settled(bots);
    const idle: number[] = [];
    for (let window = 0; window < IDLE_WINDOWS; window++) {
      const { cpuUs, seconds } = await spentIn(bots, () => wait(IDLE_MS));
      idle.push(cpuUs / seconds);
    }
    const idleUs = median(idle);
    const spent: number[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const { cpuUs, seconds } = await spentIn(bots, () => talk(world, PER_TURN));
      spent.push((cpuUs - idleUs * seconds) / PER_TURN);
    }
    const memories = await Promise.all(bots.map((bot) => bot.memory()));
    const sum = (of: 'heapBytes' | 'rssBytes') => memories.reduce((total, memory) => total + memory[of], 0);
    const takeoverMs = database === undefined || bots.length === 1 ? undefined : await takeover(database, bots);
    return { cpuUs: median(spent), idleUs, heapBytes: sum('heapBytes'), rssBytes: sum('rssBytes'), takeoverMs };
  } finally {
    await Promise.allSettled(bots.map((bot) => bot.stop()));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

async function spentIn(bots: readonly BotProcess[], task: () => Promise<unknown>) {
  const started = performance.now();
  const before = await cpuOf(bots);
  await task();
  return { cpuUs: (await cpuOf(bots)) - before, seconds: (performance.now() - started) / 1_000 };
}

async function takeover(database: TestServer, bots: BotProcess[]): Promise<number> {
  const started = performance.now();
  await bots.pop()?.kill();
  await divided(database, bots.length, GROUPS);
  return performance.now() - started;
}

interface World {
  readonly discord: LocalDiscord;
  readonly application: LocalApplication;
  readonly channels: readonly LocalChannel[];
  readonly guilds: readonly LocalGuild[];
  /** The record of the slash commands that Discord has for the bot, in a few guilds. */
  readonly known: SyncedLists;
  readonly say: (channel: LocalChannel) => void;
}

async function createWorld(size: number): Promise<World> {
  const discord = await startLocalDiscord({ keepMessages: 10, shards: SHARDS });
  discord.requests.enabled = false;
  const owner = discord.createUser({ name: 'owner' });
  const application = discord.createApplication({ name: 'Cinnabar', owner });
  const people = Array.from({ length: MEMBERS - 2 }, (_, index) => discord.createUser({ name: `member${index}` }));
  const channels: LocalChannel[] = [];
  const guilds: LocalGuild[] = [];
  for (let index = 0; index < size; index++) {
    const guild = discord.createGuild({ name: `Guild ${index}`, owner });
    for (const person of people) guild.join(person);
    channels.push(guild.createChannel({ name: 'general' }));
    guild.invite(application);
    guilds.push(guild);
    // A guild's shard depends on the millisecond of its creation.
    if (index % 20 === 0) await wait(1);
  }
  const folder = mkdtempSync(join(tmpdir(), 'cinnabar-bench-scale-'));
  try {
    const known = await learnSyncedLists(discord, application, folder);
    const say = (channel: LocalChannel) => void owner.say(channel, 'hello, an ordinary message');
    return { discord, application, channels, guilds, known, say };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Marks the slash commands as synced everywhere, as in the second start of a bot: for the servers of each group, in the place where its host reads. */
async function storeSyncedLists({ url }: TestServer, { application, guilds, known }: World): Promise<void> {
  const driver = createPostgresDriver({
    url,
    schema: 'cinnabar',
    poolSize: 1,
    use: 'alone',
    clock: createSystemClock(),
    log: NO_LOG,
  });
  try {
    await driver.open?.();
    for (let group = 0; group < GROUPS; group++) {
      const own = guilds.filter(({ id }) => ShardClientUtil.shardIdForGuildId(id, GROUPS) === group);
      const key = group === 0 ? application.id : `${application.id}@${group}`;
      await driver.write(pathOfSyncedLists(key), syncedIn(known, own, application));
    }
  } finally {
    await driver.close();
  }
}

/** Sends messages in all guilds in turn. */
async function talk({ discord, channels, say }: World, count: number): Promise<void> {
  const step = Math.max(1, Math.floor(channels.length / 97));
  for (let sent = 1; sent <= count; sent++) {
    const channel = channels[(sent * step) % channels.length];
    if (channel !== undefined) say(channel);
    if (sent % BATCH === 0) await discord.settled(SETTLED_MS);
  }
  await discord.settled(SETTLED_MS);
}

const cpuOf = async (bots: readonly BotProcess[]) =>
  (await Promise.all(bots.map((bot) => bot.cpuUs()))).reduce((sum, us) => sum + us, 0);

async function settled(bots: readonly BotProcess[]): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  let last = { cpuUs: await cpuOf(bots), at: performance.now() };
  let share = 1;
  for (let looks = 0; looks < IDLE_LOOKS; ) {
    if (Date.now() > end)
      throw new Error(
        `after ${PATIENCE_MS / 1_000} s each process still needs ${Math.round(share * 100)} % of a processor`,
      );
    await wait(LOOK_EVERY_MS);
    const now = { cpuUs: await cpuOf(bots), at: performance.now() };
    share = (now.cpuUs - last.cpuUs) / 1_000 / (now.at - last.at) / bots.length;
    looks = share < IDLE_SHARE ? looks + 1 : 0;
    last = now;
  }
}

const WRITERS = 32;
const DOCUMENTS = 500;
const WRITE_MS = 4_000;
const CHANGES = 400;
const pathOf = (index: number) => ['bench', 'collections', 'guild', 'counters', String(10 ** 17 + (index % DOCUMENTS))];
const storedOf = (n: number) => ({ version: 1, data: { n, text: 'What a plugin keeps of a server. '.repeat(8) } });

/** Concurrent durable writes of small documents. */
async function* writes(): AsyncGenerator<Figure> {
  await using database = await testServer('on');
  const folder = mkdtempSync(join(tmpdir(), 'cinnabar-bench-scale-'));
  const clock = createSystemClock();
  const drivers = {
    files: createFileDriver({ root: join(folder, 'documents'), journals: folder, clock, log: NO_LOG }),
    postgres: createPostgresDriver({
      url: database.url,
      schema: 'bench',
      poolSize: 8,
      use: 'alone',
      clock,
      log: NO_LOG,
    }),
  };
  try {
    for (const driver of Object.values(drivers)) await driver.open?.();
    yield compare({
      name: `${WRITERS} writers: documents written to PostgreSQL, on the disk`,
      unit: '1/s',
      ours: await writeRate(drivers.postgres),
      peer: await writeRate(drivers.files),
      peerName: 'files',
    });
  } finally {
    for (const driver of Object.values(drivers)) await driver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeRate(driver: Driver): Promise<number> {
  const started = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = writer; performance.now() - started < WRITE_MS; n += WRITERS) {
        await driver.write(pathOf(n), storedOf(n));
        done += 1;
      }
    }),
  );
  return (done / (performance.now() - started)) * 1_000;
}

/** Time from the start of a setting's write until another process's connection was notified and has read it. */
async function seenElsewhere(): Promise<Figure> {
  await using database = await testServer('on');
  const clock = createSystemClock();
  const open = async () => {
    const driver = createPostgresDriver({
      url: database.url,
      schema: 'bench',
      poolSize: 4,
      use: 'cluster',
      clock,
      log: NO_LOG,
    });
    await driver.open?.();
    return driver;
  };
  const [writer, reader] = [await open(), await open()];
  const path = ['bench', 'settings', 'guild', String(10 ** 17)];
  const took: number[] = [];
  try {
    for (let n = 0; n < CHANGES; n++) {
      const heard = new Promise<void>((resolve) => {
        const stop = reader.shared?.listen({
          changed() {
            stop?.();
            resolve();
          },
          missed: async () => undefined,
        });
      });
      const started = performance.now();
      await writer.write(path, storedOf(n));
      await heard;
      await reader.read(path);
      took.push(performance.now() - started);
    }
  } finally {
    await writer.close();
    await reader.close();
  }
  return limit("a setting's change until another process has read it, p95", 'ms', percentile(took, 95), 200);
}
