import { BOTS, type BotName, type BotProcess, startBot } from './bot-process.js';
import { compare, type Figure, median } from './report.js';
import { createBenchWorld } from './world.js';

const WARM_UP = 4_000;
const PER_ROUND = 8_000;
const ROUNDS = 7;
/** The server lets the bots catch up after so many, so that nothing piles up in the sockets. */
const BATCH = 500;

/** Processor time per message that is not for the bot, all bundled plugins loaded. */
export const messages = () => perMessage('message not for the bot', 'hello everyone, this is an ordinary message', 1.1);

/** Processor time per prefix command that does not reply. */
export const commands = () => perMessage('prefix command without reply', '!noop', 1.5);

async function* perMessage(name: string, text: string, atMost: number): AsyncGenerator<Figure> {
  await using world = await createBenchWorld();
  const { discord, alice } = world;
  const bots = new Map<BotName, BotProcess>();
  const say = async (bot: BotName, count: number) => {
    const { channel } = world.place(bot);
    for (let sent = 0; sent < count; sent++) {
      alice.say(channel, text);
      if (sent % BATCH === BATCH - 1) await discord.settled();
    }
    await discord.settled();
  };
  const costUs = async (bot: BotName, process: BotProcess) => {
    const before = await process.usage();
    await say(bot, PER_ROUND);
    return ((await process.usage()).cpuUs - before.cpuUs) / PER_ROUND;
  };

  try {
    for (const bot of BOTS) {
      bots.set(bot, await startBot(bot, discord, world.place(bot).application));
      await say(bot, WARM_UP);
    }
    const costs = new Map<BotName, number[]>(BOTS.map((bot) => [bot, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const [bot, process] of bots) costs.get(bot)?.push(await costUs(bot, process));
    }
    const of = (bot: BotName) => median(costs.get(bot) ?? []);
    yield compare({ name, unit: 'µs CPU', ours: of('cinnabar'), peer: of('raw'), peerName: 'raw discord.js', atMost });
    yield compare({
      name,
      unit: 'µs CPU',
      ours: of('cinnabar'),
      peer: of('sapphire'),
      peerName: '@sapphire/framework',
      atMost: 1,
    });
  } finally {
    for (const process of bots.values()) await process.stop();
  }
}
