import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOTS, type BotName, startBot } from './bot-process.js';
import { compareRounds, type Figure, limit, median } from './report.js';
import { createBenchWorld } from './world.js';

const ROUNDS = 9;
const MIB = 1024 * 1024;

interface Measured {
  readonly startMs: number;
  readonly sinceLoadedMs: number;
  readonly startCpuMs: number;
  readonly rssMib: number;
  readonly heapMib: number;
}
type Rounds = (bot: BotName, figure: keyof Measured) => readonly number[];

/** Starts every bot in turn, several times; the first round fills the caches and does not count. */
async function measure(): Promise<Rounds> {
  await using world = await createBenchWorld();
  const dataDir = mkdtempSync(join(tmpdir(), 'cinnabar-bench-'));
  const measured = new Map<BotName, Measured[]>(BOTS.map((bot) => [bot, []]));
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const bot of BOTS) {
        const running = await startBot(bot, world.discord, world.place(bot).application, dataDir);
        const { rssBytes, heapBytes } = await running.memory();
        await running.stop();
        const { startMs, sinceLoadedMs, startCpuUs } = running;
        const one = {
          startMs,
          sinceLoadedMs,
          startCpuMs: startCpuUs / 1000,
          rssMib: rssBytes / MIB,
          heapMib: heapBytes / MIB,
        };
        if (round > 0) measured.get(bot)?.push(one);
      }
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
  return (bot, figure) => (measured.get(bot) ?? []).map((one) => one[figure]);
}

function* againstPeers(of: Rounds, name: string, unit: string, figure: keyof Measured): Generator<Figure> {
  const ours = of('cinnabar', figure);
  yield compareRounds({ name, unit, ours, peer: of('raw', figure), peerName: 'raw discord.js' });
  yield compareRounds({ name, unit, ours, peer: of('sapphire', figure), peerName: '@sapphire/framework' });
}

/** From the start of the process to ready, imports included; and what of it comes after they are loaded: building, plugins, login. Then the memory. */
export async function* start(): AsyncGenerator<Figure> {
  const of = await measure();
  yield limit('process start to ready, all bundled plugins', 'ms', median(of('cinnabar', 'startMs')), 400);
  yield* againstPeers(of, 'process start to ready', 'ms', 'startMs');
  yield limit('modules loaded to ready, all bundled plugins', 'ms', median(of('cinnabar', 'sinceLoadedMs')), 400);
  yield* againstPeers(of, 'modules loaded to ready', 'ms', 'sinceLoadedMs');
  yield* againstPeers(of, 'process start to ready', 'ms CPU', 'startCpuMs');
  yield* againstPeers(of, 'resident memory when ready', 'MiB', 'rssMib');
  yield* againstPeers(of, 'heap when ready', 'MiB', 'heapMib');
}
