import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalMessage } from '@cinnabar/local-discord';
import { callTool, say, scriptedLlm } from '@cinnabar/local-models';
import { definePlugin, z } from '@cinnabar/sdk';
import { answering, settleAgent, startAgentBot } from '../plugins/relay/harness.js';
import { type Coverage, recordCoverage } from './footprint/coverage.js';
import { type Figure, limit } from './report.js';

/** A flow, and the maximum number of its files. */
const AIMS = {
  '!ai up to its card': 130,
  '👍 to result': 60,
  'relayed mention': 110,
  'persona turn': 80,
  'one task step': 60,
} as const;
type Flow = keyof typeof AIMS;
type Note = (flow: Flow, files: readonly string[]) => void;

/**
 * Counts the source files that a reader has to open to follow an event: files of core, SDK and plugins of which a function is called between two points.
 * Only the participating plugins are loaded; the model is a script, so the providers' clients are not counted. Each flow runs once before, so that
 * initialisation on first use is not counted; neither are the functions that the harness calls to wait. With `BENCH_FILES=1` the files are written to standard
 * error.
 */
export async function* footprint(): AsyncGenerator<Figure> {
  using coverage = await recordCoverage();
  const seen = new Map<Flow, readonly string[]>();
  const note: Note = (flow, files) => void seen.set(flow, files);
  for (const follow of [followConfirmation, followMention, followPersona, followTask]) await follow(coverage, note);
  for (const [flow, files] of seen) {
    if (process.env.BENCH_FILES === '1')
      process.stderr.write(`${flow}:\n${files.map((file) => `  ${file}\n`).join('')}`);
    yield limit(`source files whose code runs, ${flow}`, 'files', files.length, AIMS[flow]);
  }
}

async function followConfirmation(coverage: Coverage, note: Note): Promise<void> {
  const model = scriptedLlm(() => callTool('add_party_character', { name: 'V', role: 'Solo' }));
  await using host = await createTestHost({ plugins: ['ai', 'chat', 'confirm', 'party', model] });
  for (let round = 0; round < 2; round += 1) {
    await coverage.look();
    const card = await hears(host, "!ai Add V to my party, he's a Solo", /^📋 Confirmation Required/);
    note('!ai up to its card', await coverage.look());
    await host.settled();
    await coverage.look();
    host.alice.react(card, '👍');
    await host.discord.expectMessage({ author: host.bot, content: /^✓ V has been/, since: card });
    note('👍 to result', await coverage.look());
    await host.settled();
  }
}

async function followMention(coverage: Coverage, note: Note): Promise<void> {
  await using bot = await startAgentBot({ script: answering('Here I am.') });
  await settleAgent(bot);
  for (let round = 0; round < 2; round += 1) {
    await coverage.look();
    await bot.says(bot.alice, `${bot.bot} are you there?`);
    note('relayed mention', await coverage.look());
    await bot.discord.expectMessage({ author: bot.bot, content: 'Here I am.' });
    // A message that follows too soon would wait for its batch.
    await bot.advance(60_000);
  }
}

async function followPersona(coverage: Coverage, note: Note): Promise<void> {
  const greetings = ['Good evening, Alice.', 'How was the market today?'];
  const plans = greetings.map((message) => ({
    reasoning: 'She talks to me.',
    actions: [
      { action: 'THINK', context: '', result: { thought: 'I like her.' } },
      { action: 'SPEAK', context: 'answer', result: { message } },
    ],
    can_extend: false,
  }));
  const model = scriptedLlm(plans.map((plan) => say(JSON.stringify(plan))));
  await using host = await createTestHost({
    plugins: ['ai', 'persona', model],
    settings: { ai: { defaultResponder: 'persona' } },
  });
  for (const greeting of greetings) {
    await coverage.look();
    await hears(host, '!ai I am back', greeting);
    note('persona turn', await coverage.look());
    await host.settled();
  }
}

/** Numbers of the requests to the model between which a step of the task is counted; the first steps set the task up. */
const COUNTED_STEP = { from: 3, to: 4 };

/** A step lasts from one request to the model to the next; a tool that needs no approval runs between them. */
async function followTask(coverage: Coverage, note: Note): Promise<void> {
  let requests = 0;
  const model = scriptedLlm(async () => {
    requests += 1;
    if (requests === COUNTED_STEP.from) await coverage.look();
    if (requests === COUNTED_STEP.to) note('one task step', await coverage.look());
    if (requests < COUNTED_STEP.to) return callTool('look', { what: `shelf ${requests}` });
    return callTool('task_complete', { summary: 'Every shelf is empty.' });
  });
  await using host = await createTestHost({ plugins: ['admin', 'confirm', 'tasks', model, shelves] });
  host.you.say(host.general, '!set tasks stepDelayMs 0');
  await host.settled();
  host.alice.say(host.general, '!task Look at the shelves');
  await host.discord.expectMessage({ author: host.bot, content: /Every shelf is empty/ });
}

const shelves = definePlugin({
  manifest: { id: 'shelves', version: '1.0.0', description: 'A tool that reads' },
  setup: ({ tool }) =>
    void tool({
      name: 'look',
      description: 'Looks at a shelf.',
      input: z.object({ what: z.string() }),
      risk: 'read',
      run: ({ what }) => `${what} is empty.`,
    }),
});

/** Sends a message as Alice. @throws Error unless the bot sends the expected answer */
async function hears(host: TestHost, text: string, answer: string | RegExp): Promise<LocalMessage> {
  const since = host.alice.say(host.general, text);
  return host.discord.expectMessage({ author: host.bot, content: answer, since });
}
