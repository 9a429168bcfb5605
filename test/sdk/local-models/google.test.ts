import {
  callTools,
  endMidway,
  fail,
  refuse,
  type StandInOptions,
  say,
  startGoogleStandIn,
} from '@cinnabar/local-models';
import { ApiError, type Content, type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import { rejected } from './rejected.js';

async function start(options: StandInOptions) {
  const api = await startGoogleStandIn(options);
  const client = new GoogleGenAI({ apiKey: 'g-client', vertexai: false, httpOptions: { baseUrl: api.baseUrl } });
  return { models: client.models, api, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const call: Content = { role: 'model', parts: [{ functionCall: { id: 'a', name: 'roll', args: {} } }] };
const response: Content = {
  role: 'user',
  parts: [{ functionResponse: { id: 'a', name: 'roll', response: { output: '4' } } }],
};
/** The client's own `text` warns about parts that are not text. */
const textOf = ({ candidates }: GenerateContentResponse) =>
  (candidates?.[0]?.content?.parts ?? []).flatMap(({ text, thought }) => (text && !thought ? [text] : []));
const ASK = { model: 'gemini-2.5-flash', contents: [user('roll')] };

describe('Google stand-in', () => {
  it('answers whole and streamed, as the real client reads it', async () => {
    const usage = { inputTokens: 50, outputTokens: 9, cacheReadTokens: 30 };
    const answer = callTools([{ name: 'roll', arguments: { sides: 6 } }], {
      text: 'Rolling, for you!',
      thinking: 'hm',
      usage,
    });
    await using bench = await start({ script: () => answer });
    const whole = await bench.models.generateContent(ASK);
    expect(textOf(whole).join('')).to.equal('Rolling, for you!');
    expect(whole.functionCalls?.[0]).to.deep.include({ name: 'roll', args: { sides: 6 } });
    expect(whole.usageMetadata).to.include({
      promptTokenCount: 50,
      cachedContentTokenCount: 30,
      candidatesTokenCount: 9,
    });

    const texts: string[] = [];
    const reasons = [];
    for await (const piece of await bench.models.generateContentStream(ASK)) {
      const [first] = piece.candidates ?? [];
      texts.push(...textOf(piece));
      reasons.push(first?.finishReason);
    }
    expect(texts.length).to.be.greaterThan(1);
    expect(texts.join('')).to.equal('Rolling, for you!');
    expect(reasons.at(-1)).to.equal('STOP');
  });

  it('records what a request says, without its key', async () => {
    await using bench = await start({ key: 'g-client', script: () => say('ok') });
    await bench.models.generateContent({
      ...ASK,
      contents: [user('roll'), call, response],
      config: { systemInstruction: 'Be kind.', tools: [{ functionDeclarations: [{ name: 'roll' }] }] },
    });
    const [request] = bench.api.requests;
    expect(request?.prompt).to.deep.equal({
      model: 'gemini-2.5-flash',
      system: 'Be kind.',
      text: 'roll',
      tools: ['roll'],
      results: ['4'],
    });
    expect(request?.hasKey).to.equal(true);
    expect(JSON.stringify([request?.headers, request?.body])).not.to.include('g-client');
  });

  it('refuses, fails and breaks off in the form of the API', async () => {
    await using bench = await start({ steps: [refuse('No.'), fail(429, { retryAfterSeconds: 3 }), endMidway()] });
    expect((await bench.models.generateContent(ASK)).candidates?.[0]?.finishReason).to.equal('SAFETY');
    const error = await rejected(ApiError, () => bench.models.generateContent(ASK));
    expect(error.status).to.equal(429);
    expect(error.message).to.include('RESOURCE_EXHAUSTED').and.to.include('"retryDelay":"3s"');
    const reasons = [];
    for await (const piece of await bench.models.generateContentStream(ASK))
      reasons.push(piece.candidates?.[0]?.finishReason);
    expect(reasons.length).to.be.greaterThan(0);
    expect(reasons.at(-1)).to.equal(undefined);
  });

  describe('refuses what the real API refuses', () => {
    for (const [what, contents] of [
      ['a response of no call', [user('a'), response]],
      ['a call without its response', [user('a'), call, user('b')]],
      ['a call at the end', [user('a'), call]],
      ['a call that answers nobody', [call, response]],
      ['nothing in a message', [{ role: 'user', parts: [] }]],
    ] as const) {
      it(what, async () => {
        await using bench = await start({ script: () => say('ok') });
        await rejected(ApiError, () =>
          bench.models.generateContent({
            ...ASK,
            contents: contents.map(({ role, parts }) => ({ ...(role && { role }), parts: [...(parts ?? [])] })),
          }),
        );
      });
    }

    it('tools beside structured output', async () => {
      await using bench = await start({ script: () => say('ok') });
      const config = { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } };
      await bench.models.generateContent({ ...ASK, config });
      const tools = [{ functionDeclarations: [{ name: 'roll' }] }];
      await rejected(ApiError, () => bench.models.generateContent({ ...ASK, config: { ...config, tools } }));
    });
  });
});
