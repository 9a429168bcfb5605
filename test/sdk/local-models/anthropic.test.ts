import Anthropic from '@anthropic-ai/sdk';
import {
  callToolRaw,
  callTools,
  endMidway,
  fail,
  type ModelScript,
  say,
  startAnthropicStandIn,
} from '@cinnabar/local-models';
import { expect } from 'chai';
import { rejected } from './rejected.js';

type Content = Anthropic.ContentBlockParam[];

async function start(script: ModelScript) {
  const api = await startAnthropicStandIn({ script });
  const client = new Anthropic({ apiKey: 'sk-client', baseURL: api.baseUrl, maxRetries: 0, logLevel: 'off' });
  return { api, client, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

const user = (...content: Content) => ({ role: 'user' as const, content });
const assistant = (...content: Content) => ({ role: 'assistant' as const, content });
const text = (words: string) => ({ type: 'text' as const, text: words });
const use = (id: string) => ({ type: 'tool_use' as const, id, name: 'roll', input: {} });
const result = (id: string) => ({ type: 'tool_result' as const, tool_use_id: id, content: '4' });
const IMAGE = {
  type: 'image' as const,
  source: { type: 'base64' as const, media_type: 'image/png' as const, data: 'aGk=' },
};
const TOOLS = [{ name: 'roll', input_schema: { type: 'object' as const } }];
const HEAD = { model: 'm', max_tokens: 100, tools: TOOLS };

describe('Anthropic stand-in', () => {
  it('speaks the Messages API, whole and streamed, as the real client reads it', async () => {
    await using bench = await start(() =>
      callTools([{ name: 'roll', arguments: { sides: 6 } }], {
        text: 'Rolling!',
        thinking: 'hm',
        usage: { inputTokens: 50, outputTokens: 9, cacheReadTokens: 30, cacheCreationTokens: 15 },
      }),
    );
    const params = { ...HEAD, messages: [user(text('roll'))] };
    for (const message of [
      await bench.client.messages.create(params),
      await bench.client.messages.stream(params).finalMessage(),
    ]) {
      expect(message.content.map(({ type }) => type)).to.deep.equal(['thinking', 'text', 'tool_use']);
      expect(message.content[1]).to.include({ text: 'Rolling!' });
      expect(message.content[2]).to.have.property('input').that.deep.equals({ sides: 6 });
      expect(message.stop_reason).to.equal('tool_use');
      expect(message.usage).to.include({
        input_tokens: 5,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 15,
        output_tokens: 9,
      });
    }
  });

  it('simulates a whole conversation by a script that sees prompts and results', async () => {
    await using bench = await start(({ text: said, results }) =>
      results.length > 0
        ? say(`I rolled ${results.join()}.`)
        : said.includes('roll')
          ? callToolRaw('roll', '{}')
          : say('?'),
    );
    const first = await bench.client.messages.create({ ...HEAD, messages: [user(text('roll'))] });
    expect(first.stop_reason).to.equal('tool_use');
    const second = await bench.client.messages.create({
      ...HEAD,
      messages: [user(text('roll')), assistant(use('a')), user(result('a'))],
    });
    expect(second.content[0]).to.include({ text: 'I rolled 4.' });
  });

  it('fails with the provider’s kinds of error, also inside a stream, and with a stream that just ends', async () => {
    const steps = [fail(529), fail(529, { midway: true }), endMidway()];
    await using bench = await start(() => steps.shift() ?? say('ok'));
    const params = { ...HEAD, messages: [user(text('hi'))] };
    const whole = await rejected(Anthropic.APIError, () => bench.client.messages.create(params));
    expect(whole.status).to.equal(529);
    const inside = await rejected(Anthropic.APIError, () => bench.client.messages.stream(params).finalMessage());
    expect(inside.type).to.equal('overloaded_error');
    await rejected(Anthropic.AnthropicError, () => bench.client.messages.stream(params).finalMessage());
  });

  describe('refuses what the real API refuses', () => {
    const marked = (words: string) => ({ ...text(words), cache_control: { type: 'ephemeral' as const } });
    for (const [what, messages] of [
      ['a first message of the assistant', [assistant(text('hi')), user(text('hi'))]],
      ['an image in the mouth of the model', [user(text('a')), assistant(IMAGE), user(text('b'))]],
      ['a prefilled answer', [user(text('a')), assistant(text('b'))]],
      ['empty text', [user(text(' '))]],
      ['no content', [user()]],
      ['a result of no call', [user(result('a'))]],
      ['a call without its result', [user(text('a')), assistant(use('a')), user(text('b'))]],
      ['a result behind text', [user(text('a')), assistant(use('a')), user(text('b'), result('a'))]],
      ['an id used twice', [user(text('a')), assistant(use('a'), use('a')), user(result('a'))]],
      ['an id of other characters', [user(text('a')), assistant(use('a:b')), user(result('a:b'))]],
      ['five cache breakpoints', [user(...['1', '2', '3', '4', '5'].map(marked))]],
    ] as const) {
      it(what, async () => {
        await using bench = await start(() => say('ok'));
        await rejected(Anthropic.BadRequestError, () =>
          bench.client.messages.create({ ...HEAD, messages: [...messages] }),
        );
      });
    }

    it('calls in the history without tools, and a choice of a tool that is not there', async () => {
      await using bench = await start(() => say('ok'));
      const messages = [user(text('a')), assistant(use('a')), user(result('a'))];
      await bench.client.messages.create({ ...HEAD, messages });
      await rejected(Anthropic.BadRequestError, () =>
        bench.client.messages.create({ model: 'm', max_tokens: 1, messages }),
      );
      await rejected(Anthropic.BadRequestError, () =>
        bench.client.messages.create({ ...HEAD, messages, tool_choice: { type: 'tool', name: 'other' } }),
      );
    });
  });
});
