import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defined } from '@cinnabar/sdk';
import { BOTS, type BotName, startBot } from './bot-process.js';
import { compareRounds, type Figure } from './report.js';
import { createBenchWorld } from './world.js';

const ROUNDS = 9;
const MIB = 1024 * 1024;

interface Measured {
  readonly startMs: number;
  readonly startCpuMs: number;
  readonly rssMib: number;
  readonly heapMib: number;
}
type Rounds = (bot: BotName, figure: keyof Measured) => readonly number[];

/** Starts every bot in turn, several times; the first round fills the caches and is not counted. */
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
        const { startMs, startCpuUs } = running;
        const one = {
          startMs,
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

function* againstPeers(
  of: Rounds,
  name: string,
  unit: string,
  figure: keyof Measured,
  atMost?: number,
): Generator<Figure> {
  const ours = of('cinnabar', figure);
  yield compareRounds({
    name,
    unit,
    ours,
    peer: of('raw', figure),
    peerName: 'raw discord.js',
    ...defined({ atMost }),
  });
  yield compareRounds({ name, unit, ours, peer: of('sapphire', figure), peerName: '@sapphire/framework' });
}

/** From the start of the process to ready, with all bundled plugins: time and processor time, then the memory after a garbage collection. */
export async function* start(): AsyncGenerator<Figure> {
  const of = await measure();
  yield* againstPeers(of, 'process start to ready', 'ms', 'startMs', 1.4);
  yield* againstPeers(of, 'process start to ready', 'ms CPU', 'startCpuMs', 1.4);
  yield* againstPeers(of, 'resident memory when ready', 'MiB', 'rssMib', 1.35);
  // Contains the code of all plugins, which the peers do not have.
  yield* againstPeers(of, 'heap when ready', 'MiB', 'heapMib');
}
