import { startBot } from './bot-process.js';
import { compare, type Figure } from './report.js';
import { openSoakHarness } from './soak/harness.js';

const MESSAGES = 300_000;
const PARTS = 10;
const MIB = 1024 * 1024;
const AT_MOST = 1.15;
/** The width of one mark of the plot in MiB. */
const MIB_PER_MARK = 4;

/**
 * Measures the bot's heap over a long run, each time after a garbage collection: ordinary conversations in 50 channels of five guilds, with mentions, commands,
 * tool calls, cards, a persona in some channels, tasks, direct messages, edits, deletions and reactions. The curve has to be flat.
 */
export async function* soak(_folder?: string, messages = MESSAGES): AsyncGenerator<Figure> {
  await using harness = await openSoakHarness();
  const bot = await startBot('cinnabar', harness.discord, harness.application, undefined, harness.env);
  try {
    await harness.furnish();
    let first: number | undefined;
    for (let part = 1; part <= PARTS; part += 1) {
      await harness.live(Math.round(messages / PARTS));
      const heapMib = (await bot.memory()).heapBytes / MIB;
      first ??= heapMib;
      const said = (Math.round(messages / PARTS) * part).toLocaleString('en-US');
      process.stderr.write(
        `${said.padStart(9)} ${heapMib.toFixed(1).padStart(7)} MiB ${'█'.repeat(heapMib / MIB_PER_MARK)}\n`,
      );
      yield compare({
        name: `soak: heap after ${said} messages`,
        unit: 'MiB',
        ours: heapMib,
        peer: first,
        peerName: 'after the first tenth',
        ...(part === PARTS ? { atMost: AT_MOST } : {}),
      });
    }
    const counts = Object.entries(harness.counts).map(([what, count]) => `${count} ${what}`);
    process.stderr.write(`${counts.join(', ')}\n`);
  } finally {
    await bot.stop();
  }
}
