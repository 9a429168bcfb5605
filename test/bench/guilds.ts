import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type LocalApplication, type LocalDiscord, type LocalGuild, startLocalDiscord } from '@cinnabar/local-discord';
import { BOTS, type BotName, type BotProcess, startBot } from './bot-process.js';
import { compareRounds, type Figure, limit, median } from './report.js';
import { learnSyncedLists, syncedIn, writeSyncedLists } from './synced-lists.js';

const SIZES = [1_000, 10_000];
/** Members of each guild, including the bots. */
const MEMBERS = 50;
const CHANNELS = 3;
const ROUNDS = 3;
const MIB = 1024 * 1024;
/** A bot is idle when it uses less than this share of a processor in that many consecutive windows. */
const IDLE_SHARE = 0.04;
const LOOK_EVERY_MS = 250;
const IDLE_LOOKS = 4;

interface Measured {
  readonly settledMs: number;
  readonly cpuMs: number;
  readonly rssMib: number;
  /** Number of requests whose path names a guild, for each guild. */
  readonly requestsPerGuild: number;
}

/** Measures a start in many guilds until the bot is idle, with the same state as in the previous start. */
export async function* guilds(): AsyncGenerator<Figure> {
  for (const size of SIZES) {
    const measured = await measure(size);
    const of = (bot: BotName, figure: keyof Measured) => (measured.get(bot) ?? []).map((one) => one[figure]);
    const name = `start in ${size.toLocaleString('en-US')} guilds of ${MEMBERS}`;
    const figures = [
      [`${name} until settled`, 'ms', 'settledMs', 1.3],
      [`${name} until settled`, 'ms CPU', 'cpuMs', 1.3],
      [`${name}: resident memory`, 'MiB', 'rssMib', 1.15],
    ] as const;
    for (const [label, unit, figure, atMost] of figures) {
      const ours = of('cinnabar', figure);
      yield compareRounds({ name: label, unit, ours, peer: of('raw', figure), peerName: 'raw discord.js', atMost });
      yield compareRounds({ name: label, unit, ours, peer: of('sapphire', figure), peerName: '@sapphire/framework' });
    }
    yield limit(`${name}, nothing changed`, 'requests per guild', median(of('cinnabar', 'requestsPerGuild')), 0);
  }
}

async function measure(size: number): Promise<ReadonlyMap<BotName, readonly Measured[]>> {
  const { discord, guilds, applications } = await createWorld(size);
  const dataDir = mkdtempSync(join(tmpdir(), 'cinnabar-bench-'));
  const measured = new Map<BotName, Measured[]>(BOTS.map((bot) => [bot, []]));
  try {
    const { cinnabar } = applications;
    const known = await learnSyncedLists(discord, cinnabar, dataDir);
    writeSyncedLists(syncedIn(known, guilds, cinnabar), cinnabar, dataDir);
    for (let round = 0; round < ROUNDS; round++) {
      for (const bot of BOTS) measured.get(bot)?.push(await startOnce(bot, discord, applications[bot], dataDir, size));
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
    await discord.close();
  }
  return measured;
}

async function createWorld(size: number) {
  const discord = await startLocalDiscord({ keepMessages: 10 });
  discord.requests.enabled = false;
  const owner = discord.createUser({ name: 'owner' });
  const application = (name: BotName) => discord.createApplication({ name, owner });
  const applications = {
    raw: application('raw'),
    sapphire: application('sapphire'),
    cinnabar: application('cinnabar'),
  };
  const people = Array.from({ length: MEMBERS - 1 - BOTS.length }, (_, index) =>
    discord.createUser({ name: `member${index}` }),
  );
  const guilds: LocalGuild[] = [];
  for (let index = 0; index < size; index++) {
    const guild = discord.createGuild({ name: `Guild ${index}`, owner });
    for (const person of people) guild.join(person);
    for (let channel = 0; channel < CHANNELS; channel++) guild.createChannel({ name: `channel-${channel}` });
    for (const bot of BOTS) guild.invite(applications[bot]);
    guilds.push(guild);
  }
  return { discord, guilds, applications };
}

async function startOnce(
  name: BotName,
  discord: LocalDiscord,
  application: LocalApplication,
  dataDir: string,
  size: number,
): Promise<Measured> {
  discord.requests.reset();
  discord.requests.enabled = true;
  const started = performance.now();
  const bot = await startBot(name, discord, application, dataDir);
  const { settledMs, cpuMs } = await settled(bot, started);
  discord.requests.enabled = false;
  const { rssBytes } = await bot.memory();
  await bot.stop();
  const ofGuilds = discord.requests.all.filter(({ path }) => path.includes('/guilds/')).length;
  return { settledMs, cpuMs, rssMib: rssBytes / MIB, requestsPerGuild: ofGuilds / size };
}

/** Resolves when the bot is idle, with the time and the processor time at which it became idle. */
async function settled(bot: BotProcess, started: number): Promise<{ settledMs: number; cpuMs: number }> {
  let last = { settledMs: performance.now() - started, cpuMs: (await bot.cpuUs()) / 1000 };
  for (let looks = 0; looks < IDLE_LOOKS; ) {
    await wait(LOOK_EVERY_MS);
    const cpuMs = (await bot.cpuUs()) / 1000;
    const settledMs = performance.now() - started;
    const isIdle = (cpuMs - last.cpuMs) / LOOK_EVERY_MS < IDLE_SHARE;
    looks = isIdle ? looks + 1 : 0;
    if (!isIdle) last = { settledMs, cpuMs };
  }
  return last;
}
