import { BOTS, type BotName, type BotProcess, startBot } from './bot-process.js';
import { compareRounds, type Figure } from './report.js';
import { type BenchWorld, createBenchWorld } from './world.js';

interface Load {
  /** Number of messages for the warm-up: V8 optimises code during tens of thousands of messages. */
  readonly warmUp: number;
  /** The bots alternate several times in a round, so that other load on the machine and garbage collections affect all of them equally. */
  readonly turns: number;
  readonly perTurn: number;
  readonly isAnswered: boolean;
}
const MANY: Load = { warmUp: 30_000, turns: 6, perTurn: 1_000, isAnswered: false };
/** discord.js sends at most 50 requests a second. */
const FEW: Load = { warmUp: 500, turns: 2, perTurn: 100, isAnswered: true };
/** Number of processes of each bot, one after another: some processes are a quarter slower throughout, depending on V8's memory layout. */
const GENERATIONS = 3;
const ROUNDS = 5;
/** The server waits for the bots after this number of messages, so that nothing accumulates in the sockets. */
const BATCH = 500;

/** Processor time per message that is not for the bot, with all bundled plugins. */
export const messages = () => perMessage('message not for the bot', 'hello everyone, this is an ordinary message', 1.1);

/** Processor time per prefix command that does not reply, and per one that does. */
export async function* commands(): AsyncGenerator<Figure> {
  yield* perMessage('prefix command without reply', '!noop', 1.3);
  yield* perMessage('prefix command with a reply', '!pong', 1.2, FEW);
}

async function* perMessage(name: string, text: string, atMost: number, load = MANY): AsyncGenerator<Figure> {
  const costs = new Map<BotName, number[]>(BOTS.map((bot) => [bot, []]));
  for (let generation = 0; generation < GENERATIONS; generation++) await playGeneration(costs, text, load);
  const of = (bot: BotName) => costs.get(bot) ?? [];
  const figure = { name, unit: 'µs CPU', ours: of('cinnabar') };
  yield compareRounds({ ...figure, peer: of('raw'), peerName: 'raw discord.js', atMost });
  yield compareRounds({ ...figure, peer: of('sapphire'), peerName: '@sapphire/framework', atMost: 1 });
}

/** Starts and warms up every bot, and sums up the costs of its rounds. */
async function playGeneration(costs: ReadonlyMap<BotName, number[]>, text: string, load: Load): Promise<void> {
  await using world = await createBenchWorld();
  const bots = new Map<BotName, BotProcess>();
  try {
    for (const bot of BOTS) {
      bots.set(bot, await startBot(bot, world.discord, world.place(bot).application));
      await say(world, bot, text, load.warmUp, load);
    }
    for (let round = 0; round < ROUNDS; round++) {
      const spent = await playRound(world, bots, text, load);
      for (const bot of BOTS) costs.get(bot)?.push((spent.get(bot) ?? 0) / (load.turns * load.perTurn));
    }
  } finally {
    for (const process of bots.values()) await process.stop();
  }
}

/** Processor time in microseconds that each bot uses in a round. */
async function playRound(
  world: BenchWorld,
  bots: ReadonlyMap<BotName, BotProcess>,
  text: string,
  load: Load,
): Promise<ReadonlyMap<BotName, number>> {
  const spent = new Map<BotName, number>();
  for (let turn = 0; turn < load.turns; turn++) {
    // Alternates the direction, so that no bot always follows the same other one.
    for (const [bot, process] of turn % 2 === 0 ? [...bots] : [...bots].reverse()) {
      const before = await process.cpuUs();
      await say(world, bot, text, load.perTurn, load);
      spent.set(bot, (spent.get(bot) ?? 0) + (await process.cpuUs()) - before);
    }
  }
  return spent;
}

/** Resolves when the bot has received all messages and, if the load expects answers, has answered each. */
async function say(world: BenchWorld, bot: BotName, text: string, count: number, load: Load): Promise<void> {
  const { discord, alice } = world;
  const { channel, application } = world.place(bot);
  let answers = 0;
  let stop = () => {};
  const answered = new Promise<void>((resolve) => {
    stop = discord.observe((event) => {
      if (event.type !== 'messageCreate' || event.message.author.id !== application.user.id) return;
      answers += 1;
      if (answers === count) resolve();
    });
  });
  for (let sent = 1; sent <= count; sent++) {
    alice.say(channel, text);
    if (sent % BATCH === 0) await discord.settled();
  }
  if (load.isAnswered) await answered;
  await discord.settled();
  stop();
}
