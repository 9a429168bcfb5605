import {
  callTool,
  cutMidway,
  fail,
  hang,
  hangMidway,
  refuse,
  type StandIn,
  type StandInOptions,
  say,
  startOpenAiStandIn,
} from '@cinnabar/local-models';
import { expect } from 'chai';
import OpenAI from 'openai';
import { rejected } from './rejected.js';

function clientOf({ baseUrl }: StandIn): OpenAI {
  return new OpenAI({ apiKey: 'sk-client', baseURL: baseUrl, maxRetries: 0, logLevel: 'off' });
}

async function start(options: StandInOptions) {
  const api = await startOpenAiStandIn(options);
  return { api, client: clientOf(api), [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

const CHAT = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
const ASK = { model: 'm', input: [{ role: 'user' as const, content: 'hi' }] };
const TOOL = { type: 'object', properties: {} };

describe('OpenAI stand-in', () => {
  it('speaks the Responses API, whole and streamed, as the real client reads it', async () => {
    await using bench = await start({ script: () => say('Hello, world!', { thinking: 'hm' }) });
    const whole = await bench.client.responses.create(ASK);
    expect(whole).to.include({ output_text: 'Hello, world!', status: 'completed' });
    const stream = bench.client.responses.stream(ASK);
    const deltas: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    expect((await stream.finalResponse()).output_text).to.equal('Hello, world!');
    expect(deltas.length).to.be.greaterThan(1);
    expect(deltas.join('')).to.equal('Hello, world!');
  });

  it('speaks Chat Completions, whole and streamed, as the real client reads it', async () => {
    await using bench = await start({ script: () => callTool('roll', { sides: 6 }) });
    const tools = [{ type: 'function' as const, function: { name: 'roll', parameters: TOOL } }];
    const whole = await bench.client.chat.completions.create({ ...CHAT, tools });
    expect(whole.choices[0]?.finish_reason).to.equal('tool_calls');
    const streamed = await bench.client.chat.completions.stream({ ...CHAT, tools }).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]?.message.tool_calls).to.have.nested.property('[0].function.arguments', '{"sides":6}');
    }
  });

  it('lists a model', async () => {
    await using bench = await start({});
    expect((await bench.client.models.list()).data.map(({ id }) => id)).to.deep.equal(['stand-in']);
  });

  it('refuses in the form of each endpoint', async () => {
    await using bench = await start({ script: () => refuse('No.') });
    const { output } = await bench.client.responses.create(ASK);
    expect(output).to.have.nested.property('[0].content[0].refusal', 'No.');
    const { choices } = await bench.client.chat.completions.create(CHAT);
    expect(choices[0]?.message).to.include({ refusal: 'No.', content: null });
  });

  it('answers with errors, and with what is asked for next when the steps are used up', async () => {
    await using bench = await start({ steps: [fail(429, { retryAfterSeconds: 3, code: 'rate_limit_exceeded' })] });
    const error = await rejected(OpenAI.RateLimitError, () => bench.client.responses.create(ASK));
    expect(error.headers.get('retry-after')).to.equal('3');
    expect(error.code).to.equal('rate_limit_exceeded');
    expect((await rejected(OpenAI.BadRequestError, () => bench.client.responses.create(ASK))).message).to.include(
      'no step left',
    );
    bench.api.push(say('more'));
    expect((await bench.client.responses.create(ASK)).output_text).to.equal('more');
  });

  it('answers 401 to another key than the one it was given', async () => {
    await using bench = await start({ key: 'sk-right', script: () => say('ok') });
    await rejected(OpenAI.AuthenticationError, () => bench.client.responses.create(ASK));
  });

  it('records requests without their keys, what they say, and how they ended', async () => {
    await using bench = await start({ steps: [say('ok'), cutMidway(), hang()] });
    await bench.client.responses.create({ ...ASK, instructions: 'Be kind.' });
    const first = await bench.api.arrived(1);
    expect(first.prompt).to.deep.equal({ model: 'm', system: 'Be kind.', text: 'hi', tools: [], results: [] });
    expect(first.hasKey).to.equal(true);
    expect(JSON.stringify([first.headers, first.body])).not.to.include('sk-client');

    await rejected(Error, () => bench.client.responses.create(ASK));
    const controller = new AbortController();
    const hanging = rejected(OpenAI.APIUserAbortError, () =>
      bench.client.responses.create(ASK, { signal: controller.signal }),
    );
    await bench.api.hanging();
    controller.abort();
    await hanging;
    expect(await Promise.all(bench.api.requests.map(({ ended }) => ended))).to.deep.equal([
      'answered',
      'cut',
      'aborted',
    ]);
  });

  it('lets what hangs go on when released', async () => {
    await using bench = await start({ steps: [hang(say('one')), hangMidway(say('two'))] });
    for (const text of ['one', 'two']) {
      const answer = bench.client.responses.create(ASK);
      await bench.api.hanging();
      bench.api.release();
      expect((await answer).output_text).to.equal(text);
    }
  });

  describe('refuses what the real API refuses', () => {
    const call = { type: 'function_call' as const, call_id: 'a', name: 'roll', arguments: '{}' };
    const output = { type: 'function_call_output' as const, call_id: 'a', output: '4' };
    const wrongInputs = {
      'an output without its call': [output],
      'a call without its output': [call],
      'two calls of one id': [call, call, output],
      'nothing at all': [],
    };
    for (const [what, input] of Object.entries(wrongInputs)) {
      it(`responses: ${what}`, async () => {
        await using bench = await start({ script: () => say('ok') });
        await rejected(OpenAI.BadRequestError, () => bench.client.responses.create({ model: 'm', input }));
      });
    }

    it('responses: tool names with spaces, and schemas that are not strict where they say so', async () => {
      await using bench = await start({ script: () => say('ok') });
      const tool = { type: 'function' as const, parameters: TOOL, strict: false };
      const loose = { type: 'object', properties: { a: { type: 'string' } }, required: [] };
      await rejected(OpenAI.BadRequestError, () =>
        bench.client.responses.create({ ...ASK, tools: [{ ...tool, name: 'roll dice' }] }),
      );
      await rejected(OpenAI.BadRequestError, () =>
        bench.client.responses.create({ ...ASK, tools: [{ ...tool, name: 'roll', parameters: loose, strict: true }] }),
      );
    });

    const asked = {
      role: 'assistant' as const,
      tool_calls: [{ id: 'a', type: 'function' as const, function: { name: 'roll', arguments: '{}' } }],
    };
    const told = { role: 'tool' as const, tool_call_id: 'a', content: '4' };
    const said = { role: 'user' as const, content: 'hm' };
    for (const [what, messages] of [
      ['a result without its call', [told]],
      ['a call without its result', [asked, said]],
      ['somebody speaking between call and result', [asked, said, told]],
      ['an assistant that says nothing', [said, { role: 'assistant' as const, content: null }]],
    ] as const) {
      it(`chat: ${what}`, async () => {
        await using bench = await start({ script: () => say('ok') });
        await rejected(OpenAI.BadRequestError, () =>
          bench.client.chat.completions.create({ model: 'm', messages: [...messages] }),
        );
      });
    }
  });
});
