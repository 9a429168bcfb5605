import { createTestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { Llm } from '@cinnabar/sdk';
import { calledAfter, createChannel, said } from '../plugins/chat/context/harness.js';
import { type Figure, limit, median } from './report.js';

const MESSAGES = 400;
const PARTICIPANTS = 8;
const CALLS = 20;
const WARM_UP = 50;
const ROUNDS = 200;
const STARTED = Date.UTC(2026, 0, 1);

/** Measures from a channel's history to the request in a provider's format: the context builder and the language model's rendering. */
export async function* context(): AsyncGenerator<Figure> {
  await using host = await createTestHost({
    plugins: ['llm'],
    settings: { llm: { provider: 'anthropic', model: 'claude-opus-4-5' } },
    env: { ANTHROPIC_API_KEY: 'none-is-sent' },
  });
  const llm = host.resolve(Llm);
  const messages = Array.from({ length: MESSAGES }, (_, index) => exampleMessage(index));
  const channel = createChannel({
    system: 'You take part in a channel of many people. '.repeat(100),
    tools: [{ name: 'get_time', description: 'The time somewhere', inputSchema: { type: 'object', properties: {} } }],
    records: Array.from({ length: CALLS }, (_, index) => exampleCall(index)),
    traits: await llm.traits(),
  });
  channel.waitUntil(STARTED + MESSAGES * 60_000);
  const took: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const started = performance.now();
    const built = await channel.activate(messages);
    await llm.render(built.request);
    if (round >= WARM_UP) took.push(performance.now() - started);
  }
  const what = `${MESSAGES} messages, ${PARTICIPANTS} participants, ${CALLS} tool calls`;
  yield limit(`${what}: to a provider request`, 'ms', median(took), 2);
  yield limit('a warm activation: what is read from Discord', 'REST requests', await warmReads(), 0);
}

/** Number of reads of the second activation in a channel with more messages than the window. */
async function warmReads(): Promise<number> {
  const llm = scriptedLlm(() => say('Fine.'));
  await using host = await createTestHost({ plugins: ['ai', 'chat', llm] });
  for (let index = 0; index < MESSAGES + 50; index++) host.bob.say(host.general, exampleText(index, 0));
  const activate = async () => {
    host.alice.say(host.general, '!ai Hello');
    await host.settled();
  };
  await activate();
  const cold = host.discord.requests.all.length;
  await activate();
  if (llm.requests.length !== 2) throw new Error(`The model was asked ${llm.requests.length} times instead of twice.`);
  return host.discord.requests.all.slice(cold).filter(({ method }) => method === 'GET').length;
}

function exampleMessage(index: number) {
  const who = index % PARTICIPANTS;
  const bot = who === 7;
  return said(`Person ${who}`, exampleText(index, who), {
    id: idAt(index),
    createdAt: STARTED + index * 60_000,
    author: { bot, self: bot },
  });
}

const idAt = (index: number) => String(10 ** 17 + index);

function exampleText(index: number, who: number): string {
  if (index % 20 === 0) return `Shall we meet <t:${1_700_000_000 + index}:R>, as I wrote in <#77>? 🙂`;
  const whom = index % 4 === 0 ? `<@${(who + 1) % 7}>` : 'you';
  return `Message ${index}: what do ${whom} think of it? I would like to hear more about that, and so would others.`;
}

const exampleCall = (index: number) =>
  calledAfter(0, {
    callId: `call_${index}`,
    afterMessageId: idAt(index * (MESSAGES / CALLS)),
    result: `It is ${index}:00 there. `.repeat(10),
  });
