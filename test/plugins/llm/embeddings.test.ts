import { fail, hang, wordVector } from '@cinnabar/local-models';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { CHARGE, type HarnessOptions, KEY, openRoute, ROUTES, statusOf } from './harness.js';

const [OPENAI, , , , ANTHROPIC, , BEDROCK, , GOOGLE] = ROUTES;
const MODEL = { embeddingModel: 'embed-1' };
const DELAY_MS = 700;

/** 32-bit floats are less precise than the expected values. */
function expectNear(vector: Float32Array | undefined, wanted: readonly number[]) {
  expect(vector).to.have.length(wanted.length);
  wanted.forEach((value, index) => {
    expect(vector?.[index]).to.be.closeTo(value, 1e-6);
  });
}

for (const route of [OPENAI, GOOGLE]) {
  describe(`llm embeddings: ${route.provider}`, () => {
    const open = (options: HarnessOptions = {}) =>
      openRoute(route, { ...options, settings: { ...MODEL, retryDelayMs: DELAY_MS, ...options.settings } });

    it('are one vector for each text, in their order', async () => {
      await using harness = await open();
      const texts = ['the red dragon', 'tea', 'a dragon, red'];
      const found = await harness.llm.embed(texts, { charge: CHARGE });
      expect(found?.model).to.equal('embed-1');
      expect(found?.tokens).to.equal(4 + 1 + 4);
      expect(found?.vectors).to.have.length(3);
      texts.forEach((text, index) => {
        expectNear(found?.vectors[index], wordVector(text));
      });
      expect(harness.api.requests).to.have.length(1);
      expect(harness.api.requests[0]?.hasKey).to.equal(true);
    });

    it('are of many texts in several requests, of none in none, and of an empty one, too', async () => {
      await using harness = await open();
      const texts = Array.from({ length: 300 }, (_, index) => `text number ${index}`);
      const found = await harness.llm.embed(texts, { charge: CHARGE });
      expect(harness.api.requests.length).to.be.above(1);
      expect(found?.vectors).to.have.length(300);
      expectNear(found?.vectors[299], wordVector('text number 299'));
      const before = harness.api.requests.length;
      expect(await harness.llm.embed([], { charge: CHARGE })).to.deep.equal({
        vectors: [],
        model: 'embed-1',
        tokens: 0,
      });
      expect(harness.api.requests).to.have.length(before);
      expect((await harness.llm.embed([''], { charge: CHARGE }))?.vectors).to.have.length(1);
    });

    it('are not there unless a model was named for them', async () => {
      await using harness = await openRoute(route);
      expect(await harness.llm.embed(['tea'], { charge: CHARGE })).to.equal(undefined);
      expect(harness.api.requests).to.deep.equal([]);
      expect((await harness.llm.embed(['tea'], { charge: CHARGE, model: 'embed-2' }))?.model).to.equal('embed-2');
      harness.set(MODEL);
      expect((await harness.llm.embed(['tea'], { charge: CHARGE }))?.model).to.equal('embed-1');
    });

    it('are asked for again after a failure that may pass', async () => {
      await using harness = await open({ embedSteps: [fail(503), fail(429)] });
      const found = harness.llm.embed(['tea'], { charge: CHARGE });
      for (const _ of [1, 2]) {
        await harness.clock.armed(DELAY_MS);
        harness.clock.advance(DELAY_MS);
      }
      expect((await found)?.vectors).to.have.length(1);
      expect(harness.clock.pending).to.equal(0);
    });

    it('are refused with a sentence that holds no key', async () => {
      await using harness = await open({ embedSteps: [fail(400, { message: `no ${KEY}` }), fail(404)] });
      const error = await failure('CINNABAR_LLM_REFUSED', () => harness.llm.embed(['tea'], { charge: CHARGE }));
      expect(error.message).to.include('no (key)').and.not.include(KEY);
      await failure('CINNABAR_LLM_REFUSED', () => harness.llm.embed(['tea'], { charge: CHARGE }));
      expect(harness.api.requests).to.have.length(2);
    });

    it('end when they are cancelled, and the HTTP request with them', async () => {
      await using harness = await open({ embedSteps: [hang()] });
      const asking = new AbortController();
      const answer = failure('CINNABAR_LLM_CANCELLED', () =>
        harness.llm.embed(['tea'], { charge: CHARGE, signal: asking.signal }),
      );
      await harness.api.hanging();
      asking.abort();
      await answer;
      expect(await harness.api.requests[0]?.ended).to.equal('aborted');
    });

    it('have a time limit', async () => {
      await using harness = await open({ embedSteps: [hang()], settings: { timeoutMs: 5_000, retries: 0 } });
      const answer = failure('CINNABAR_LLM_TIMEOUT', () => harness.llm.embed(['tea'], { charge: CHARGE }));
      await harness.api.hanging();
      await harness.clock.armed(5_000);
      harness.clock.advance(5_000);
      await answer;
    });

    it('rest with their vendor after five failures in a row', async () => {
      const embedSteps = Array.from({ length: 5 }, () => fail(500));
      await using harness = await open({ embedSteps, settings: { retries: 0 } });
      for (const _ of embedSteps)
        await failure('CINNABAR_LLM_UNAVAILABLE', () => harness.llm.embed(['tea'], { charge: CHARGE }));
      await failure('CINNABAR_LLM_PAUSED', () => harness.llm.embed(['tea'], { charge: CHARGE }));
      expect(harness.api.requests).to.have.length(5);
    });

    it('that are no numbers, or of different lengths, are not taken', async () => {
      const vectors: readonly (readonly number[])[] = [[1, 2], [1], [], [Number.NaN, 1]];
      for (const wrong of vectors.slice(1)) {
        const embed = (text: string) => (text === 'right' ? [1, 2] : wrong);
        await using harness = await open({ embed });
        await failure('CINNABAR_LLM_MALFORMED', () => harness.llm.embed(['right', 'wrong'], { charge: CHARGE }));
      }
    });
  });
}

describe('llm embeddings: who makes them', () => {
  it('is no vendor where the answering one has none', async () => {
    for (const route of [ANTHROPIC, BEDROCK]) {
      await using harness = await openRoute(route, { settings: MODEL });
      expect(await harness.llm.embed(['tea'], { charge: CHARGE }), route.provider).to.equal(undefined);
      expect(harness.api.requests).to.deep.equal([]);
    }
  });

  /** The route shown to the owner; `undefined` when there are no embeddings. */
  const routeOf = async (settings: object, env: object) => {
    const status = await statusOf(settings, env);
    const shown = /^\*\*Embeddings:\*\* (.*)$/m.exec(status)?.[1] ?? 'none: it answers offline';
    return shown.startsWith('none: ') ? undefined : shown;
  };

  it('is the vendor with a key and a model, also beside another vendor for chat', async () => {
    const talks = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' };
    expect(await routeOf({}, talks)).to.equal(undefined);
    expect(await routeOf({}, { ...talks, OPENAI_EMBEDDING_MODEL: 'embed-o' })).to.equal('embed-o by openai');
    expect(await routeOf({}, { ANTHROPIC_API_KEY: 'a', OPENAI_EMBEDDING_MODEL: 'embed-o' })).to.equal(undefined);
    const both = { ...talks, GOOGLE_API_KEY: 'g', OPENAI_EMBEDDING_MODEL: 'eo', GOOGLE_EMBEDDING_MODEL: 'eg' };
    const misplaced = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'sk-ant-1', OPENAI_EMBEDDING_MODEL: 'eo' };
    expect(await routeOf({}, misplaced)).to.equal(undefined);
    expect(await routeOf({ openaiBaseUrl: 'http://localhost:1/v1' }, misplaced)).to.equal('eo by openai');
    expect(await routeOf({ provider: 'google' }, both)).to.equal('eg by google');
    expect(await routeOf({ provider: 'openai' }, both)).to.equal('eo by openai');
    expect(await routeOf({ provider: 'google', embeddingModel: 'mine' }, both)).to.equal('mine by google');
  });

  it('is no vendor when the offline model answers', async () => {
    expect(await routeOf({}, { OPENAI_EMBEDDING_MODEL: 'embed-o' })).to.equal(undefined);
    const off = { provider: 'offline', embeddingModel: 'mine' };
    expect(await routeOf(off, { OPENAI_API_KEY: 'o' })).to.equal(undefined);
  });

  it('is the vendor that provides the model, where vendors are set up', async () => {
    const vendors = {
      one: { provider: 'anthropic', config: { apiKey: 'a' }, provides: ['claude-1'] },
      two: { provider: 'openai', config: { apiKey: 'b' }, provides: ['embed-.*'] },
    };
    expect(await routeOf({ vendors }, {})).to.equal(undefined);
    expect(await routeOf({ vendors, ...MODEL }, {})).to.equal('embed-1 by two');
    expect(await routeOf({ vendors, embeddingModel: 'other' }, {})).to.equal(undefined);
    expect(await routeOf({ vendors }, { OPENAI_EMBEDDING_MODEL: 'embed-2' })).to.equal('embed-2 by two');

    await using harness = await openRoute(OPENAI);
    const config = { apiKey: KEY, baseUrl: harness.api.baseUrl };
    harness.set({ vendors: { ...vendors, two: { ...vendors.two, config } } });
    const found = await harness.llm.embed(['tea'], { charge: CHARGE, model: 'embed-3' });
    expect(found?.model).to.equal('embed-3');
    expect(harness.api.requests).to.have.length(1);
  });
});
