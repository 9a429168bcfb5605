import { createTestHost } from '@cinnabar/core/testing';
import {
  callTool,
  callToolRaw,
  cutMidway,
  fail,
  hang,
  type ScriptedLlm,
  say,
  scriptedLlm,
  wordVector,
} from '@cinnabar/local-models';
import { definePlugin, Llm, type LlmRequest, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';

const CHARGE = { actor: { userId: '1', guildId: null, channelId: '2' }, responder: 'test', trigger: 'I was tested' };
const PROMPT: LlmRequest = {
  self: 'Cinnabar',
  messages: [{ participant: 'Alice', content: [{ type: 'text', text: 'Hello' }] }],
};
const HELLO = { ...PROMPT, charge: CHARGE };

/** The service in the form that a plugin injects. */
async function serviceOf(scripted: ScriptedLlm) {
  const host = await createTestHost({ plugins: [scripted] });
  return { llm: host.resolve(Llm), [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

describe('scriptedLlm', () => {
  it('provides Llm from a queue of steps, then from a script, and records the requests', async () => {
    const scripted = scriptedLlm([say('Hi.'), callTool('roll', { sides: 6 }), callToolRaw('roll', '[')]);
    await using bench = await serviceOf(scripted);
    const answers = [];
    for (const _ of [1, 2, 3]) answers.push(await bench.llm.complete(HELLO));
    expect(answers.flatMap(({ content }) => content.map(({ type }) => type))).to.deep.equal([
      'text',
      'tool_use',
      'malformed_tool_use',
    ]);
    expect(answers.map(({ stopReason }) => stopReason)).to.deep.equal(['end_turn', 'tool_use', 'tool_use']);
    expect(scripted.requests).to.have.length(3);
    expect(scripted.requests[0]).to.deep.equal(PROMPT);
    await failure('CINNABAR_LLM_REFUSED', () => bench.llm.complete(HELLO));
    scripted.push(say('more'));
    expect((await bench.llm.complete(HELLO)).content).to.deep.equal([{ type: 'text', text: 'more' }]);
  });

  it('lets a script see what was said, the tools on offer and the results', async () => {
    const scripted = scriptedLlm(({ text, results, tools }) => say([text, ...results, ...tools].join('|')));
    await using bench = await serviceOf(scripted);
    const result = { type: 'tool_result', toolUseId: 'a', content: 'four' } as const;
    const { content } = await bench.llm.complete({
      ...HELLO,
      messages: [...HELLO.messages, { participant: 'Cinnabar', content: [result] }],
      tools: [{ name: 'roll', description: 'Rolls', inputSchema: {} }],
    });
    expect(content).to.deep.equal([{ type: 'text', text: 'Hello|four|roll' }]);
  });

  it('fails and hangs as the real one does', async () => {
    const scripted = scriptedLlm([fail(429), fail(500), cutMidway(), hang(), hang(say('later'))]);
    await using bench = await serviceOf(scripted);
    await failure('CINNABAR_LLM_RATE_LIMITED', () => bench.llm.complete(HELLO));
    await failure('CINNABAR_LLM_UNAVAILABLE', () => bench.llm.complete(HELLO));
    await failure('CINNABAR_LLM_UNAVAILABLE', () => bench.llm.complete(HELLO));
    const controller = new AbortController();
    const cancelled = failure('CINNABAR_LLM_CANCELLED', () =>
      bench.llm.complete({ ...HELLO, signal: controller.signal }),
    );
    await scripted.hanging();
    controller.abort();
    await cancelled;
    const later = bench.llm.complete(HELLO);
    await scripted.hanging();
    scripted.release();
    expect((await later).content).to.deep.equal([{ type: 'text', text: 'later' }]);
  });

  it('validates structured output', async () => {
    const scripted = scriptedLlm([say('{"winner":"V"}'), say('V')]);
    await using bench = await serviceOf(scripted);
    const output = { name: 'ruling', schema: z.object({ winner: z.string() }) };
    expect((await bench.llm.complete({ ...HELLO, output })).structured).to.deep.equal({ winner: 'V' });
    await failure('CINNABAR_LLM_MALFORMED', () => bench.llm.complete({ ...HELLO, output }));
  });

  it('tells of its text piece by piece, of its traits, and of how it was asked', async () => {
    await using bench = await serviceOf(scriptedLlm([say('Hello, how are you?')]));
    const pieces: string[] = [];
    const request = { ...HELLO, mode: 'prefill' as const, onText: (piece: string) => void pieces.push(piece) };
    expect((await bench.llm.complete(request)).mode).to.equal('prefill');
    expect(pieces.length).to.be.greaterThan(1);
    expect(pieces.join('')).to.equal('Hello, how are you?');
    expect(await bench.llm.traits('other')).to.deep.include({ model: 'other', modes: ['chat', 'prefill'] });
    expect(await bench.llm.render(request)).to.include({ mode: 'prefill', body: request });
  });

  it('answers a plugin that injects the model', async () => {
    const asker = definePlugin({
      manifest: { id: 'asker', version: '1.0.0', description: 'Asks the model' },
      inject: { llm: Llm },
      setup({ command, services }) {
        command({
          name: 'ask',
          description: 'Asks',
          async run(context) {
            const { content } = await services.llm.complete(HELLO);
            await context.reply(content.map((block) => (block.type === 'text' ? block.text : '')).join(''));
          },
        });
      },
    });
    await using host = await createTestHost({ plugins: [scriptedLlm([say('42')]), asker] });
    host.alice.say(host.general, '!ask');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: /^42$/ });
  });

  it('has no embeddings, unless it is told how to make them', async () => {
    await using without = await serviceOf(scriptedLlm());
    expect(await without.llm.embed(['tea'], { charge: CHARGE })).to.equal(undefined);
    const scripted = scriptedLlm([], { embed: wordVector });
    await using bench = await serviceOf(scripted);
    const found = await bench.llm.embed(['green tea', 'tea, green', 'a dragon'], { charge: CHARGE });
    const [one, other, third] = found?.vectors ?? [];
    expect(one).to.deep.equal(other);
    expect(one).to.not.deep.equal(third);
    expect(scripted.embedded).to.deep.equal([['green tea', 'tea, green', 'a dragon']]);
  });
});
