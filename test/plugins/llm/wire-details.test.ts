import { callTool, say } from '@cinnabar/local-models';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ask, DICE, from, openRoute, ROUTES } from './harness.js';

const [RESPONSES, , CHAT, , ANTHROPIC, , , , GOOGLE] = ROUTES;
const SPEAKERS = ['1', '2', '3', '4', '5', '6'];

/** Number of occurrences of a key in a JSON document. */
function count(document: unknown, key: string): number {
  return JSON.stringify(document).split(`"${key}":{`).length - 1;
}

describe('llm wire details', () => {
  it('Anthropic: keeps the last four cache marks, which is what the API allows', async () => {
    await using harness = await openRoute(ANTHROPIC, { script: () => say('ok') });
    const messages = SPEAKERS.map((words) => ({
      ...from('Alice', words),
      cacheControl: { type: 'ephemeral' as const },
    }));
    await harness.llm.complete(ask(messages));
    const body = harness.api.requests[0]?.body;
    expect(count(body, 'cache_control')).to.equal(4);
    expect(JSON.stringify(body)).to.match(/"\\nAlice: 6","cache_control":\{"type":"ephemeral"\}/);
    expect(JSON.stringify(body)).to.include('{"type":"text","text":"Alice: 1"}');
  });

  it('Anthropic: always sends a token limit, which the API demands', async () => {
    await using harness = await openRoute(ANTHROPIC, { script: () => say('ok') });
    await harness.llm.complete(ask([from('Alice', 'hi')]));
    expect(harness.api.requests[0]?.body).to.have.property('max_tokens', 8192);
  });

  it('Anthropic: asks a model for structured output that cannot be made to call a tool, and remembers', async () => {
    const script = () => callTool('ruling', { winner: 'V' });
    await using harness = await openRoute(ANTHROPIC, { refusesForcedTools: true, script });
    const output = { name: 'ruling', schema: z.object({ winner: z.string().min(1) }) };
    for (const _ of [1, 2]) {
      const { structured } = await harness.llm.complete(ask([from('Alice', 'who?')], { output }));
      expect(structured).to.deep.equal({ winner: 'V' });
    }
    expect(harness.api.requests).to.have.length(3);
    expect(harness.api.requests[2]?.body).to.deep.include({ tool_choice: { type: 'auto' } });
  });

  it('each API: gets a tool in its own form, without the dialect of its schema', async () => {
    const { name, description, inputSchema: parameters } = DICE;
    const named = { name, description };
    const forms = [
      { route: RESPONSES, tools: [{ type: 'function', ...named, parameters, strict: false }] },
      { route: CHAT, tools: [{ type: 'function', function: { ...named, parameters } }] },
      { route: ANTHROPIC, tools: [{ ...named, input_schema: parameters }] },
      { route: GOOGLE, tools: [{ functionDeclarations: [{ ...named, parametersJsonSchema: parameters }] }] },
    ];
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    for (const { route, tools } of forms) {
      await using harness = await openRoute(route, { script: () => say('ok') });
      await harness.llm.complete(
        ask([from('Alice', 'hi')], { tools: [{ ...DICE, inputSchema: { $schema, ...parameters } }] }),
      );
      expect(harness.api.requests[0]?.body, route.route).to.have.deep.property('tools', tools);
    }
  });

  it('Responses: cuts at a stop sequence itself, since the API has none', async () => {
    await using harness = await openRoute(RESPONSES, { script: () => say('one\nBob: two\nAlice: three') });
    const completion = await harness.llm.complete(
      ask([from('Alice', 'hi')], { stopSequences: ['', '\nAlice:', '\nBob:'] }),
    );
    expect(completion.content).to.deep.equal([{ type: 'text', text: 'one' }]);
    expect(completion.stopReason).to.equal('stop_sequence');
  });

  it('Responses: stores nothing at the provider', async () => {
    await using harness = await openRoute(RESPONSES, { script: () => say('ok') });
    await harness.llm.complete(ask([from('Alice', 'hi')]));
    expect(harness.api.requests[0]?.body).to.have.property('store', false);
  });

  for (const route of [CHAT, ANTHROPIC]) {
    it(`${route.route}: stops at a sequence that is beyond the provider's limit, too`, async () => {
      const stopSequences = ['s1', 's2', 's3', 's4', 's5', 's6', 'STOP'];
      await using harness = await openRoute(route, { script: () => say('one STOP two') });
      const { content, stopReason } = await harness.llm.complete(ask([from('Alice', 'hi')], { stopSequences }));
      expect(content).to.deep.equal([{ type: 'text', text: 'one ' }]);
      expect(stopReason).to.equal('stop_sequence');
    });

    it(`${route.route}: leaves stop sequences to the provider`, async () => {
      await using harness = await openRoute(route, { script: () => say('ok') });
      await harness.llm.complete(ask([from('Alice', 'hi')], { stopSequences: ['\nBob:'] }));
      expect(JSON.stringify(harness.api.requests[0]?.body)).to.match(/"stop(_sequences)?":\["\\nBob:"\]/);
    });
  }

  it('Chat Completions: sends plain strings where there are no images, for servers that take nothing else', async () => {
    await using harness = await openRoute(CHAT, { script: () => say('ok') });
    await harness.llm.complete(ask([from('Alice', 'hi')]));
    expect(harness.api.requests[0]?.body).to.have.nested.property('messages[1].content', 'Alice: hi');
  });

  it('Chat Completions: shows an image of a result in a message after all results', async () => {
    await using harness = await openRoute(CHAT, { script: () => say('ok') });
    const use = (id: string) => ({ type: 'tool_use' as const, id, name: 'look', input: {} });
    const picture = {
      type: 'image' as const,
      source: { type: 'base64' as const, data: 'aGk=', mediaType: 'image/png' },
    };
    const result = (toolUseId: string) => ({ type: 'tool_result' as const, toolUseId, content: [picture] });
    await harness.llm.complete(
      ask([from('Alice', 'go'), from('Cinnabar', use('a'), use('b')), from('Cinnabar', result('a'), result('b'))]),
    );
    const body = harness.api.requests[0]?.body;
    expect(body).to.have.nested.property('messages[5].content[1].image_url.url', 'data:image/png;base64,aGk=');
    expect(count(body, 'image_url')).to.equal(2);
  });
});
