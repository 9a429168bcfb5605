import { startGoogleStandIn, startOpenAiStandIn, wordVector } from '@cinnabar/local-models';
import { ApiError, GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { rejected } from './rejected.js';

describe('stand-ins: embeddings', () => {
  it('of OpenAI are read by the real client, as numbers and in the shorter form that it asks for', async () => {
    await using api = await startOpenAiStandIn();
    const client = new OpenAI({ apiKey: 'sk', baseURL: api.baseUrl, maxRetries: 0 });
    for (const format of [{}, { encoding_format: 'float' as const }]) {
      const { data, usage } = await client.embeddings.create({ model: 'e', input: ['tea', 'a dragon'], ...format });
      expect(usage.total_tokens).to.equal(3);
      const dragon = data.find(({ index }) => index === 1)?.embedding ?? [];
      wordVector('a dragon').forEach((value, index) => {
        expect(dragon[index]).to.be.closeTo(value, 1e-6);
      });
    }
    expect(api.requests[0]?.prompt).to.include({ model: 'e', text: 'tea\na dragon' });
    await rejected(OpenAI.BadRequestError, () => client.embeddings.create({ model: 'e', input: ['tea', ''] }));
  });

  it('of Google are read by the real client', async () => {
    await using api = await startGoogleStandIn({ embed: (text) => [text.length, 1] });
    const { models } = new GoogleGenAI({ apiKey: 'g', vertexai: false, httpOptions: { baseUrl: api.baseUrl } });
    const { embeddings } = await models.embedContent({ model: 'e', contents: ['tea', 'a dragon'] });
    expect(embeddings?.map(({ values }) => values)).to.deep.equal([
      [3, 1],
      [8, 1],
    ]);
    const many = Array.from({ length: 101 }, () => 'tea');
    await rejected(ApiError, () => models.embedContent({ model: 'e', contents: many }));
  });

  it('are near for texts with words in common, whatever their order', () => {
    const cosine = (one: string, other: string) =>
      wordVector(one).reduce((sum, value, index) => sum + value * (wordVector(other)[index] ?? 0), 0);
    expect(cosine('Green tea', 'tea, green!')).to.be.closeTo(1, 1e-9);
    expect(cosine('green tea', 'black tea')).to.be.above(cosine('green tea', 'a dragon'));
    expect(wordVector('')).to.have.length(wordVector('tea').length);
  });
});
