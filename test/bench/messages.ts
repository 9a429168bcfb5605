import { BOTS, type BotName, type BotProcess, startBot } from './bot-process.js';
import { compareRounds, type Figure } from './report.js';
import { type BenchWorld, createBenchWorld } from './world.js';

/** V8 goes on optimising for tens of thousands of messages. */
const WARM_UP = 30_000;
/** Processes of each bot, one after the other: some run a quarter slower throughout, by how V8 happened to lay them out. */
const GENERATIONS = 3;
const ROUNDS = 5;
/** The bots take turns several times in a round: whatever else the machine does falls on all alike, as do collections of garbage. */
const TURNS = 6;
const PER_TURN = 1_000;
/** The server lets the bots catch up after so many, so that nothing piles up in the sockets. */
const BATCH = 500;

/** Processor time per message that is not for the bot, all bundled plugins loaded. */
export const messages = () => perMessage('message not for the bot', 'hello everyone, this is an ordinary message', 1.1);

/** Processor time per prefix command that does not reply. */
export const commands = () => perMessage('prefix command without reply', '!noop', 1.5);

async function* perMessage(name: string, text: string, atMost: number): AsyncGenerator<Figure> {
  const costs = new Map<BotName, number[]>(BOTS.map((bot) => [bot, []]));
  for (let generation = 0; generation < GENERATIONS; generation++) await playGeneration(costs, text);
  const of = (bot: BotName) => costs.get(bot) ?? [];
  const figure = { name, unit: 'µs CPU', ours: of('cinnabar') };
  yield compareRounds({ ...figure, peer: of('raw'), peerName: 'raw discord.js', atMost });
  yield compareRounds({ ...figure, peer: of('sapphire'), peerName: '@sapphire/framework', atMost: 1 });
}

/** Starts every bot, warms all of them up, and adds what each round costs them. */
async function playGeneration(costs: ReadonlyMap<BotName, number[]>, text: string): Promise<void> {
  await using world = await createBenchWorld();
  const bots = new Map<BotName, BotProcess>();
  try {
    for (const bot of BOTS) {
      bots.set(bot, await startBot(bot, world.discord, world.place(bot).application));
      await say(world, bot, text, WARM_UP);
    }
    for (let round = 0; round < ROUNDS; round++) {
      const spent = await playRound(world, bots, text);
      for (const bot of BOTS) costs.get(bot)?.push((spent.get(bot) ?? 0) / (TURNS * PER_TURN));
    }
  } finally {
    for (const process of bots.values()) await process.stop();
  }
}

/** Processor time in microseconds that each bot spends in a round. */
async function playRound(
  world: BenchWorld,
  bots: ReadonlyMap<BotName, BotProcess>,
  text: string,
): Promise<ReadonlyMap<BotName, number>> {
  const spent = new Map<BotName, number>();
  for (let turn = 0; turn < TURNS; turn++) {
    // To and fro, so that no bot always comes right after the same other.
    for (const [bot, process] of turn % 2 === 0 ? [...bots] : [...bots].reverse()) {
      const before = await process.cpuUs();
      await say(world, bot, text, PER_TURN);
      spent.set(bot, (spent.get(bot) ?? 0) + (await process.cpuUs()) - before);
    }
  }
  return spent;
}

async function say({ discord, alice, place }: BenchWorld, bot: BotName, text: string, count: number): Promise<void> {
  const { channel } = place(bot);
  for (let sent = 1; sent <= count; sent++) {
    alice.say(channel, text);
    if (sent % BATCH === 0) await discord.settled();
  }
  await discord.settled();
}
