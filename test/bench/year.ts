import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileDriver, createPostgresDriver, createSystemClock, type Driver, type Stored } from '@cinnabar/core';
import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalGuild,
  type LocalUser,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import { createManualClock } from '@cinnabar/sdk/testing';
import { journalsOn } from '../core/storage/fixture.js';
import { openMemoryHarness } from '../plugins/persona/memory/harness.js';
import { testServer } from '../support/postgres.js';
import { startBot } from './bot-process.js';
import { NO_LOG } from './no-log.js';
import { compareRounds, type Figure } from './report.js';

/**
 * A year of a guild in which 3 million messages were written, a hundredth of them to the bot: 30,000 answers and 20,000 tool calls by 500 members in 60
 * channels and 3,000 threads. By default the bot stores of these 31 days of receipts, 30 days and 10,000 tool calls, and 20,000 memories.
 */
const MEMBERS = 500;
const CHANNELS = 60;
const THREADS = 3_000;
const RECEIPTS_OF_CHANNEL = 50;
const RECEIPTS_OF_THREAD = 4;
const CALLS = 10_000;
const ACTS = 300;
const DAYS = 31;
const MEMORIES = 10_000;

const ROUNDS = 7;
const STARTS = 4;
/** Number of searches before the measurement, until their code is compiled. */
const WARM_UP = 100;
const ANSWER_WITHIN_MS = 60_000;
const DAY_MS = 24 * 60 * 60_000;
const WRITTEN_AT_ONCE = 64;
const DRIVERS = ['files', 'PostgreSQL'] as const;
const AGES = ['fresh', 'year'] as const;
type Age = (typeof AGES)[number];

interface Measured {
  readonly startMs: readonly number[];
  readonly searchMs: readonly number[];
  readonly costMs: readonly number[];
  readonly auditMs: readonly number[];
  readonly exportMs: readonly number[];
}

/**
 * Measures start and commands in a guild with a year of data against a new one that contains only the data in the answers: the same acts and latest calls for
 * the audit, and the requester's own data.
 */
export async function* year(): AsyncGenerator<Figure> {
  for (const medium of DRIVERS) {
    const measured = new Map<Age, Measured>();
    for (const age of AGES) measured.set(age, await measure(medium, age));
    yield* compared(medium, measured);
  }
}

function* compared(medium: string, measured: ReadonlyMap<Age, Measured>): Generator<Figure> {
  const [old, fresh] = [measured.get('year'), measured.get('fresh')];
  if (old === undefined || fresh === undefined) return;
  const rows = [
    ['process start to ready', old.startMs, fresh.startMs],
    ['!cost', old.costMs, fresh.costMs],
    ['!audit', old.auditMs, fresh.auditMs],
    ['!mydata export of a member', old.exportMs, fresh.exportMs],
    ['a search in memories', old.searchMs, fresh.searchMs],
  ] as const;
  for (const [name, ours, peer] of rows)
    yield compareRounds({ name: `${medium}: ${name}`, unit: 'ms', ours, peer, peerName: 'a fresh one', atMost: 2 });
}

interface World {
  readonly discord: LocalDiscord;
  readonly application: LocalApplication;
  readonly owner: LocalUser;
  readonly members: readonly LocalUser[];
  readonly guild: LocalGuild;
  readonly general: LocalChannel;
  readonly channels: readonly LocalChannel[];
}

async function createWorld(): Promise<World> {
  const discord = await startLocalDiscord({ keepMessages: 100 });
  discord.requests.enabled = false;
  const owner = discord.createUser({ name: 'owner' });
  const application = discord.createApplication({ name: 'Cinnabar', owner });
  const guild = discord.createGuild({ name: 'Night City', owner });
  const members = Array.from({ length: MEMBERS }, (_, index) => discord.createUser({ name: `member${index}` }));
  for (const member of members) guild.join(member);
  const channels = Array.from({ length: CHANNELS }, (_, index) => guild.createChannel({ name: `channel-${index}` }));
  const [general] = channels;
  if (general === undefined) throw new RangeError('no channel');
  guild.invite(application);
  return { discord, application, owner, members, guild, general, channels };
}

async function measure(medium: (typeof DRIVERS)[number], age: Age): Promise<Measured> {
  const world = await createWorld();
  const folder = mkdtempSync(join(tmpdir(), 'cinnabar-bench-year-'));
  await using database = medium === 'files' ? undefined : await testServer('on');
  const clock = createSystemClock();
  const driver =
    database === undefined
      ? createFileDriver({ root: join(folder, 'documents'), journals: folder, clock, log: NO_LOG })
      : createPostgresDriver({ url: database.url, schema: 'cinnabar', poolSize: 8, use: 'alone', clock, log: NO_LOG });
  const env: Readonly<Record<string, string>> = database === undefined ? {} : { DATABASE_URL: database.url };
  const startMs: number[] = [];
  const start = async () => {
    const bot = await startBot('cinnabar', world.discord, world.application, folder, env);
    startMs.push(bot.startMs);
    return bot;
  };
  try {
    await driver.open?.();
    await writeYear(driver, world, age);
    const searchMs = await search(driver, world);
    await driver.close();
    // The first start fills caches and registers the commands with Discord.
    for (let round = 0; round < STARTS; round++) await (await start()).stop();
    const bot = await start();
    try {
      return { startMs: startMs.slice(1), searchMs, ...(await useBot(world)) };
    } finally {
      await bot.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await world.discord.close();
  }
}

/** The work of a persona before each answer. */
async function search(driver: Driver, { guild, general, members }: World): Promise<readonly number[]> {
  await using harness = await openMemoryHarness({
    journals: journalsOn(driver, 'persona'),
    clock: createManualClock(Date.now()),
  });
  const place = { mind: 'guild', guildId: guild.id, channelId: general.id };
  const took: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const started = performance.now();
    const query = `What is the name of my ${THINGS[round % THINGS.length]}, Rex${round}?`;
    await harness.memories.retrieve({ place, query, askedBy: members[round % (ROUNDS + 1)]?.id, limit: 5 });
    took.push(performance.now() - started);
  }
  return took.slice(WARM_UP);
}

async function useBot(world: World): Promise<Pick<Measured, 'costMs' | 'auditMs' | 'exportMs'>> {
  const [costMs, auditMs, exportMs]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round <= ROUNDS; round++) {
    const member = world.members[round] ?? world.owner;
    const one = [
      [costMs, await answered(world, world.owner, '!cost')],
      [auditMs, await answered(world, world.owner, '!audit')],
      [exportMs, await answered(world, member, '!mydata export')],
    ] as const;
    for (const [into, ms] of one) into.push(ms);
  }
  // The first command loads modules for the others.
  return { costMs: costMs.slice(1), auditMs: auditMs.slice(1), exportMs: exportMs.slice(1) };
}

/** Resolves with the bot's answer. */
async function answered({ discord, application, general }: World, who: LocalUser, text: string): Promise<number> {
  let stop = () => {};
  const answer = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer to ${text}`)), ANSWER_WITHIN_MS);
    stop = discord.observe((event) => {
      if (event.type !== 'messageCreate' || event.message.author.id !== application.user.id) return;
      clearTimeout(timer);
      resolve();
    });
  });
  const started = performance.now();
  who.say(general, text);
  await answer;
  const took = performance.now() - started;
  stop();
  await discord.settled();
  return took;
}

const THINGS = ['car', 'cat', 'sword', 'ship'];

const usage = {
  inputTokens: 1_200,
  outputTokens: 150,
  cacheCreationTokens: 0,
  cacheReadTokens: 8_000,
  cacheCreation1hTokens: 0,
};

async function writeYear(driver: Driver, { guild, members, channels }: World, age: Age): Promise<void> {
  const now = Date.now();
  const memberAt = (index: number) => members[index % members.length]?.id ?? '';
  const threads = Array.from({ length: THREADS }, (_, index) => String(BigInt(guild.id) + BigInt(index + 1) * 1_000n));
  const writes: (readonly [path: readonly string[], data: unknown, guildId?: string])[] = [];
  const collection = (plugin: string, scope: string, name: string, key: string, data: object) => {
    if (!('receipts' in data) || !Array.isArray(data.receipts) || data.receipts.length > 0)
      writes.push([[plugin, 'collections', scope, name, key], data, guild.id]);
  };
  const receipt = (channelId: string, n: number) => ({
    id: `r${n}`,
    at: now - (n % (DAYS - 1)) * DAY_MS,
    mind: 'chat',
    actor: { userId: memberAt(n * 7), guildId: guild.id, channelId },
    messageIds: [String(BigInt(guild.id) + BigInt(n))],
    trigger: 'mention',
    model: 'claude-sonnet',
    provider: 'anthropic',
    usage,
    calls: 2,
    cost: 0.0123,
    tools: [{ name: 'search_messages', outcome: 'done' }],
    details: ['40 messages of history', '8,000 tokens from the cache'],
  });
  let answers = 0;
  const askers = members.slice(0, ROUNDS + 1).map(({ id }) => id);
  const isKept = (userId: string | undefined) => age === 'year' || askers.includes(userId ?? '');
  const receipts = (channelId: string, count: number) => ({
    receipts: Array.from({ length: count }, () => receipt(channelId, answers++)).filter(({ actor }) =>
      isKept(actor.userId),
    ),
  });
  for (const { id } of channels) collection('accounts', 'channel', 'receipts', id, receipts(id, RECEIPTS_OF_CHANNEL));
  for (const id of threads) collection('accounts', 'channel', 'receipts', id, receipts(id, RECEIPTS_OF_THREAD));
  const days = Object.fromEntries(
    Array.from({ length: DAYS }, (_, back) => [
      new Date(now - back * DAY_MS).toISOString().slice(0, 10),
      { runs: 90, tokens: 800_000, usd: 1.2, unpriced: 0, usage },
    ]),
  );
  const account = { days, counted: [], held: [] };
  collection('accounts', 'guild', 'guildAccounts', guild.id, account);
  for (const { id } of channels) collection('accounts', 'channel', 'channelAccounts', id, account);
  for (const { id } of members.filter(({ id }) => isKept(id)))
    collection('accounts', 'member', 'memberAccounts', `${guild.id}:${id}`, account);
  for (let n = 0; n < CALLS; n++) {
    const at = now - (CALLS - n) * 250_000;
    if (n < CALLS - ACTS && !isKept(memberAt(n))) continue;
    const id = `${at.toString(36).padStart(9, '0')}${String(n).padStart(6, '0')}`;
    writes.push([
      ['@host', 'ledger', 'ended', id],
      {
        id,
        tool: 'send_message',
        plugin: 'discord-tools',
        origin: 'chat',
        input: { channel: channels[n % CHANNELS]?.id, text: 'The raid begins at eight, bring your gear.' },
        argumentsHash: 'a'.repeat(64),
        actor: { userId: memberAt(n), guildId: guild.id, channelId: channels[n % CHANNELS]?.id },
        key: `chat:${n}`,
        state: 'done',
        createdAt: at,
        updatedAt: at + 900,
        text: 'Sent.',
      },
    ]);
  }
  collection('audit', 'guild', 'audit', guild.id, {
    acts: Array.from({ length: ACTS }, (_, n) => ({
      at: now - (ACTS - n) * 60_000,
      userId: memberAt(n),
      act: `set chat history ${n}`,
      plugin: 'admin',
      outcome: 'done',
    })),
  });
  for (let at = 0; at < writes.length; at += WRITTEN_AT_ONCE)
    await Promise.all(
      writes.slice(at, at + WRITTEN_AT_ONCE).map(([path, data, guildId]) => {
        const stored: Stored = { version: 1, data, ...(guildId === undefined ? {} : { guildId }) };
        return driver.write(path, stored);
      }),
    );
  const lines = Array.from({ length: MEMORIES }, (_, n) => {
    const speaker = memberAt(n);
    if (!isKept(speaker)) return '';
    const memory = {
      id: `m${n}`,
      kind: 'fact',
      text: `Number ${n}: my ${THINGS[n % THINGS.length]} is called ${['Rex', 'Nova', 'Ash'][n % 3]}${n}`,
      subject: speaker,
      subjectName: null,
      speakerName: null,
      speaker,
      messageId: String(BigInt(guild.id) + BigInt(n)),
      channelId: channels[n % CHANNELS]?.id,
      guildId: guild.id,
      at: now - n * 1_000_000,
      importance: 3,
      visibility: 'guild',
      supersededBy: null,
      duplicateOf: null,
      evidence: [],
      lastAccess: now - n * 1_000_000,
      setAsideAt: null,
    };
    return `${JSON.stringify({ put: [memory] })}\n`;
  });
  const memories = driver.journal(['persona', guild.id, 'guild'], guild.id);
  await memories.add(lines.join(''));
  await memories.release();
}
