import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import Anthropic from '@anthropic-ai/sdk';
import { callTools, cutMidway, fail, type StandInOptions, say, startBedrockStandIn } from '@cinnabar/local-models';
import { expect } from 'chai';
import { rejected } from './rejected.js';

async function start(options: StandInOptions) {
  const api = await startBedrockStandIn(options);
  const client = new AnthropicBedrock({
    apiKey: null,
    awsAccessKey: 'AKIACLIENT',
    awsSecretKey: 'hush-hush',
    awsRegion: 'eu-west-1',
    baseURL: api.baseUrl,
    maxRetries: 0,
    logLevel: 'off',
  });
  return { api, client, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

const ASK = {
  model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'roll' }],
  tools: [{ name: 'roll', input_schema: { type: 'object' as const } }],
};

describe('Bedrock stand-in', () => {
  it("answers whole and in AWS's own framing, as the real client reads it", async () => {
    const answer = callTools([{ name: 'roll', arguments: { sides: 6 } }], { text: 'Würfelt! 🎲', thinking: 'hm' });
    await using bench = await start({ script: () => answer });
    for (const message of [
      await bench.client.messages.create(ASK),
      await bench.client.messages.stream(ASK).finalMessage(),
    ]) {
      expect(message.content.map(({ type }) => type)).to.deep.equal(['thinking', 'text', 'tool_use']);
      expect(message.content[1]).to.include({ text: 'Würfelt! 🎲' });
      expect(message.stop_reason).to.equal('tool_use');
    }
    expect(bench.api.requests.map(({ path, prompt }) => [path.split('/').at(-1), prompt.model])).to.deep.equal([
      ['invoke', ASK.model],
      ['invoke-with-response-stream', ASK.model],
    ]);
  });

  it('knows the access key of a signature, and records neither it nor the signature', async () => {
    await using bench = await start({ key: 'AKIACLIENT', script: () => say('ok') });
    await bench.client.messages.create(ASK);
    const [request] = bench.api.requests;
    expect(request?.hasKey).to.equal(true);
    expect(JSON.stringify([request?.headers, request?.body])).not.to.match(/AKIACLIENT|Signature|hush/);
    await using other = await start({ key: 'AKIAOTHER', script: () => say('ok') });
    await rejected(Anthropic.AuthenticationError, () => other.client.messages.create(ASK));
  });

  it('fails before, inside and in the middle of an answer', async () => {
    await using bench = await start({ steps: [fail(429), fail(529, { midway: true }), cutMidway()] });
    const limited = await rejected(Anthropic.RateLimitError, () => bench.client.messages.create(ASK));
    expect(limited.headers.get('x-amzn-errortype')).to.equal('ThrottlingException');
    const inside = await rejected(Anthropic.APIError, () => bench.client.messages.stream(ASK).finalMessage());
    expect(JSON.stringify(inside.error)).to.include('modelStreamErrorException');
    await rejected(Error, () => bench.client.messages.stream(ASK).finalMessage());
  });

  it('refuses what the Messages API refuses', async () => {
    await using bench = await start({ script: () => say('ok') });
    const messages = [...ASK.messages, { role: 'assistant' as const, content: 'I' }];
    const error = await rejected(Anthropic.BadRequestError, () => bench.client.messages.create({ ...ASK, messages }));
    expect(error.message).to.include('does not support assistant message prefill');
    await using older = await start({ prefill: true, script: () => say(' roll.') });
    expect((await older.client.messages.create({ ...ASK, messages })).content[0]).to.include({ text: ' roll.' });
  });
});
