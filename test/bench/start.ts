import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOTS, type BotName, startBot } from './bot-process.js';
import { compare, type Figure, limit, median } from './report.js';
import { createBenchWorld } from './world.js';

const ROUNDS = 7;

interface Measured {
  readonly startMs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
}

/** Starts every bot in turn, several times; the first round fills the caches and does not count. */
async function measure(): Promise<(bot: BotName, figure: keyof Measured) => number> {
  await using world = await createBenchWorld();
  const dataDir = mkdtempSync(join(tmpdir(), 'cinnabar-bench-'));
  const measured = new Map<BotName, Measured[]>(BOTS.map((bot) => [bot, []]));
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const bot of BOTS) {
        const running = await startBot(bot, world.discord, world.place(bot).application, dataDir);
        const { rssBytes, heapBytes } = await running.usage();
        await running.stop();
        if (round > 0) measured.get(bot)?.push({ startMs: running.startMs, rssBytes, heapBytes });
      }
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
  return (bot, figure) => median((measured.get(bot) ?? []).map((one) => one[figure]));
}

/** From the start of the process to ready, imports included. */
export async function* start(): AsyncGenerator<Figure> {
  const of = await measure();
  const ours = of('cinnabar', 'startMs');
  yield limit('process start to ready, all bundled plugins', 'ms', ours, 400);
  yield compare({
    name: 'process start to ready',
    unit: 'ms',
    ours,
    peer: of('raw', 'startMs'),
    peerName: 'raw discord.js',
  });
  yield compare({
    name: 'process start to ready',
    unit: 'ms',
    ours,
    peer: of('sapphire', 'startMs'),
    peerName: '@sapphire/framework',
  });
}

const MIB = 1024 * 1024;

/** Memory once ready, after a garbage collection. */
export async function* memory(): AsyncGenerator<Figure> {
  const of = await measure();
  for (const [figure, name] of [
    ['rssBytes', 'resident memory when ready'],
    ['heapBytes', 'heap when ready'],
  ] as const) {
    const ours = of('cinnabar', figure) / MIB;
    yield compare({ name, unit: 'MiB', ours, peer: of('raw', figure) / MIB, peerName: 'raw discord.js' });
    yield compare({ name, unit: 'MiB', ours, peer: of('sapphire', figure) / MIB, peerName: '@sapphire/framework' });
  }
}
