import { createTestHost } from '@cinnabar/core/testing';
import { Llm } from '@cinnabar/sdk';
import { expect } from 'chai';
import { GLOBAL_SETTINGS, type Harness, openRoute, ROUTES } from './harness.js';

const [OPENAI, , , , ANTHROPIC, , BEDROCK, , GOOGLE] = ROUTES;

describe('llm traits', () => {
  const opened = new Map<string, Harness>();
  before(async () => {
    for (const route of [OPENAI, ANTHROPIC, BEDROCK, GOOGLE]) opened.set(route.provider, await openRoute(route));
  });
  after(async () => {
    for (const harness of opened.values()) await harness[Symbol.asyncDispose]();
  });
  const traitsOf = async ({ provider }: (typeof ROUTES)[number], model: string) =>
    (await opened.get(provider)?.llm.traits(model)) ?? expect.fail(provider);

  for (const [model, contextTokens, minTokens, input, prefill] of [
    ['claude-opus-5-5', 1_000_000, 512, 4, false],
    ['claude-opus-5', 1_000_000, 512, 5, false],
    ['claude-sonnet-5', 1_000_000, 1024, 2, false],
    ['claude-opus-4-7', 1_000_000, 2048, 5, false],
    ['claude-opus-4-6', 1_000_000, 4096, 5, false],
    ['claude-sonnet-4-5-20250929', 200_000, 1024, 3, true],
    ['claude-sonnet-4.5', 200_000, 1024, 3, true],
    ['claude-haiku-4-5', 200_000, 4096, 1, true],
    ['claude-opus-4-1-20250805', 200_000, 1024, 15, true],
    ['claude-opus-4-20250514', 200_000, 1024, 15, true],
    ['claude-3-5-sonnet-20241022', 200_000, 1024, 3, true],
    ['claude-3-haiku-20240307', 200_000, 2048, 0.25, true],
  ] as const) {
    it(`know ${model}`, async () => {
      const traits = await traitsOf(ANTHROPIC, model);
      expect(traits).to.include({ model, contextTokens, images: true });
      expect(traits.cache).to.deep.equal({
        kind: 'explicit',
        breakpoints: 4,
        minTokens,
        ttls: ['5m', '1h'],
        lookBackBlocks: 20,
      });
      expect(traits.price?.input).to.equal(input);
      expect(traits.price?.cacheWrite5m).to.equal(input * 1.25);
      expect(traits.price?.cacheWrite1h).to.equal(input * 2);
      expect(traits.modes).to.deep.equal(prefill ? ['chat', 'prefill'] : ['chat']);
    });
  }

  it('know a model by the name that Bedrock gives it, and that older ones are cached there for five minutes only', async () => {
    const newer = await traitsOf(BEDROCK, 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0');
    expect(newer.cache).to.deep.include({ minTokens: 1024, ttls: ['5m', '1h'] });
    expect((await traitsOf(BEDROCK, 'anthropic.claude-3-7-sonnet-20250219-v1:0')).cache.ttls).to.deep.equal(['5m']);
  });

  it('take an unknown Claude for one that refuses prefill, and an unknown model behind the same API for one to be tried', async () => {
    expect(await traitsOf(ANTHROPIC, 'claude-next-9')).to.deep.include({ modes: ['chat'], price: undefined });
    expect((await traitsOf(ANTHROPIC, 'my-llama')).modes).to.deep.equal(['chat', 'prefill']);
  });

  it('know which models cache automatically, which do not, and which are free', async () => {
    expect(await traitsOf(OPENAI, 'gpt-5.4-mini')).to.deep.include({ modes: ['chat'] });
    expect((await traitsOf(OPENAI, 'gpt-5.4-mini')).cache).to.deep.include({ kind: 'automatic', minTokens: 1024 });
    expect((await traitsOf(OPENAI, 'gpt-5.4-mini')).price).to.deep.include({
      input: 0.75,
      cacheRead: 0.075,
      output: 4.5,
    });
    expect((await traitsOf(OPENAI, 'gpt-5.4')).price?.input).to.equal(2.5);
    expect(await traitsOf(OPENAI, 'llama3')).to.deep.include({ price: undefined });
    expect((await traitsOf(OPENAI, 'llama3')).cache.kind).to.equal('none');
    expect((await traitsOf(GOOGLE, 'gemini-2.5-flash')).cache.kind).to.equal('automatic');
    expect((await traitsOf(GOOGLE, 'gemini-1.5-pro')).cache.kind).to.equal('none');
    await using host = await createTestHost({ plugins: ['llm'] });
    expect((await host.resolve(Llm).traits()).price).to.deep.include({ input: 0, output: 0 });
  });

  it('are put right by the admin, by name before beginning, longest beginning first', async () => {
    const models = {
      'llama*': { contextTokens: 1000 },
      'llama3*': { contextTokens: 2000, images: false, price: { input: 1, output: 2 } },
      'llama3-big': { contextTokens: 3000 },
    };
    await using harness = await openRoute(ANTHROPIC, { settings: { models } });
    expect((await harness.llm.traits('llama2')).contextTokens).to.equal(1000);
    const small = await harness.llm.traits('llama3-small');
    expect(small).to.deep.include({ contextTokens: 2000, images: false });
    expect(small.price).to.deep.equal({ input: 1, output: 2, cacheRead: 1, cacheWrite5m: 1, cacheWrite1h: 1 });
    expect((await harness.llm.traits('llama3-big')).contextTokens).to.equal(3000);
    expect((await harness.llm.traits()).model).to.equal('stand-in');
  });

  it('ignore meaningless corrections', () => {
    for (const wrong of [
      { contxt: 1 },
      { modes: [] },
      { cache: { breakpoints: 9 } },
      { price: { input: -1, output: 1 } },
    ]) {
      expect(GLOBAL_SETTINGS.safeParse({ models: { 'my-model': wrong } }).success, JSON.stringify(wrong)).to.equal(
        false,
      );
    }
  });
});
