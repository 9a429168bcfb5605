import { fail, hang, type StandIn, say, startAnthropicStandIn, startOpenAiStandIn } from '@cinnabar/local-models';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { ask, from, GLOBAL_SETTINGS, KEY, openRoute, ROUTES, statusOf } from './harness.js';

const [, , CHAT, , , , BEDROCK] = ROUTES;
const HELLO = ask([from('Alice', 'Hello')]);

/** A reference to an environment variable in the configuration. */
const variable = (name: string) => `\${${name}}`;

/** The error that the owner gets instead of the status. */
const problem = async (vendors: object, env: object = {}, more: object = {}) => {
  const status = await statusOf({ vendors, ...more }, env);
  expect(status).to.match(/^⚠️ /);
  return status;
};

describe('llm vendors', () => {
  it("take the design document's configuration as it is", async () => {
    const vendors = {
      anthropic: {
        config: { anthropic_api_key: 'sk-ant-1' },
        provides: ['claude-3-5-sonnet-20241022', 'claude-3-opus-20240229'],
      },
      'aws-bedrock': {
        config: { aws_access_key: KEY, aws_secret_key: 's', aws_region: 'us-west-2' },
        provides: ['anthropic\\.claude.*'],
      },
    };
    const status = (await statusOf({ vendors })).replaceAll('\\', '');
    expect(status)
      .to.include('**Model:** claude-3-5-sonnet-20241022')
      .and.match(/\*\*anthropic\*\* \(.*claude-3-opus-20240229.*\): anthropic at api\.anthropic\.com, key set/)
      .and.match(/\*\*aws-bedrock\*\* .*: bedrock at bedrock-runtime\.us-west-2\.amazonaws\.com, key set/);
    await using harness = await openRoute(BEDROCK, { withoutKey: true, script: () => say('ok') });
    const { 'aws-bedrock': bedrock } = vendors;
    const config = { ...bedrock.config, baseUrl: harness.api.baseUrl };
    harness.set({ vendors: { 'aws-bedrock': { ...bedrock, config } }, model: 'anthropic.claude-v2' });
    expect(await harness.llm.complete(HELLO)).to.include({ provider: 'bedrock' });
    expect(harness.api.requests[0]?.hasKey).to.equal(true);
  });

  for (const api of ['chat', 'responses'] as const) {
    it(`send a compatible server the headers and body fields of its configuration, and show no header (${api})`, async () => {
      await using harness = await openRoute(CHAT, {
        steps: [say('ok'), fail(403, { message: 'no access with tenant-secret-1' })],
        env: { TENANT: 'tenant-secret-1' },
      });
      const config = {
        apiKey: KEY,
        baseUrl: harness.api.baseUrl,
        api,
        headers: { 'X-Tenant': variable('TENANT') },
        body: { top_p: 0.5 },
      };
      harness.set({ vendors: { own: { provider: 'openai', config, provides: ['stand-in'] } } });
      await harness.llm.complete(HELLO);
      expect(harness.api.requests[0]?.headers).to.include({ 'x-tenant': 'tenant-secret-1' });
      expect(harness.api.requests[0]?.body).to.have.property('top_p', 0.5);
      expect((await harness.llm.render(HELLO)).body).to.have.property('top_p', 0.5);
      const { message } = await failure('CINNABAR_LLM_REFUSED', () => harness.llm.complete(HELLO));
      expect(message).to.include('no access').and.not.include('tenant-secret-1');
      expect(JSON.stringify(harness.logs.entries)).to.not.include('tenant-secret-1');
    });
  }

  it('refuse a body field that is the request’s own, and a header of several lines without repeating it', async () => {
    const own = (config: object) => ({
      own: { provider: 'openai', config: { baseUrl: 'http://x/v1', ...config }, provides: ['m'] },
    });
    expect(() => GLOBAL_SETTINGS.parse({ vendors: own({ body: { messages: [] } }) })).to.throw(
      /must not hold model, messages/,
    );
    const message = await problem(own({ headers: { 'X-A': variable('A') } }), { A: 'secret\nX-B: 1' });
    expect(message).to.include('header X-A').and.not.include('secret');
  });

  it('match whole names, the first vendor that does, and say so when none does', async () => {
    await using harness = await openRoute(CHAT);
    harness.set({
      vendors: {
        one: { provider: 'openai', config: { apiKey: 'a' }, provides: ['gpt-5'] },
        two: { provider: 'anthropic', config: { apiKey: 'b' }, provides: ['gpt-.*', 'o[13]'] },
      },
    });
    const chosen = async (model: string) => (await harness.llm.traits(model)).provider;
    expect([await chosen('gpt-5'), await chosen('gpt-5-mini'), await chosen('o3')]).to.deep.equal([
      'openai',
      'anthropic',
      'anthropic',
    ]);
    const error = await failure('CINNABAR_LLM_NOT_CONFIGURED', () => chosen('my-gpt-5'));
    expect(error.message).to.include('no vendor provides the model "my-gpt-5"').and.to.include('one, two');
  });

  it('refuse patterns that could take long or be endless, and say which vendor has them', async () => {
    for (const pattern of ['(?=x)y', '(a)\\1', '(x{1000}){1000}', '[']) {
      const said = await problem({ mine: { provider: 'openai', config: { apiKey: 'a' }, provides: [pattern] } });
      expect(said, pattern).to.include('"mine"').and.to.include('cannot be used');
    }
    const tooLong = { mine: { provider: 'openai', config: { apiKey: 'a' }, provides: ['x'.repeat(201)] } };
    expect(GLOBAL_SETTINGS.safeParse({ vendors: tooLong }).success).to.equal(false);
  });

  it('answer at once for a name that would keep a backtracking matcher busy for years', async () => {
    await using harness = await openRoute(CHAT);
    harness.set({ vendors: { mine: { provider: 'openai', config: { apiKey: 'a' }, provides: ['(a+)+', 'x'] } } });
    await failure('CINNABAR_LLM_NOT_CONFIGURED', () => harness.llm.traits(`${'a'.repeat(299)}!`));
  });

  it('take keys from the environment: by reference, or the usual variable where no other address is given', async () => {
    const env = { OPENAI_API_KEY: 'sk-mine', XAI_KEY: 'xai-1' };
    const vendors = {
      openai: { config: {}, provides: ['gpt-.*'] },
      xai: {
        provider: 'openai',
        config: { apiKey: variable('XAI_KEY'), baseUrl: 'https://api.x.ai/v1' },
        provides: ['grok-.*'],
      },
      ollama: {
        provider: 'openai',
        config: { baseUrl: 'http://localhost:11434/v1', api: 'chat' },
        provides: ['llama.*'],
      },
    };
    const status = await statusOf({ vendors, model: 'grok-4' }, env);
    const placeOf = (name: string) => new RegExp(`\\*\\*${name}\\*\\* .*: (openai at .*); answers`).exec(status)?.[1];
    expect(placeOf('openai')).to.equal('openai at api.openai.com, key set');
    expect(placeOf('xai')).to.equal('openai at api.x.ai, key set');
    // The key for OpenAI must not be sent to another vendor's server.
    expect(placeOf('ollama')).to.equal('openai at localhost:11434, key not set');
  });

  it('name what is missing', async () => {
    const vendor = (config: object, more: object = {}) => ({ mine: { config, provides: ['m'], ...more } });
    expect(await problem(vendor({})))
      .to.include('"mine" has no provider')
      .and.to.include('openai, anthropic');
    expect(await problem(vendor({ apiKey: variable('NOT_THERE') }))).to.include('variable NOT_THERE, which is not set');
    expect(await problem(vendor({ baseUrl: 'localhost' }, { provider: 'openai' }))).to.include(
      'not an http or https address',
    );
    expect(await problem(vendor({}, { provider: 'openai' }))).to.include('neither a key');
    expect(await problem(vendor({ aws_access_key: 'A' }))).to.include('but not the other');
    expect(await problem(vendor({ apiKey: 'k' }, { provider: 'openai', provides: ['m.*x'] }))).to.include('no model');
    expect(await problem(vendor({ apiKey: 'k' }, { provider: 'openai' }), {}, { model: 'z' })).to.include('"z"');
  });

  it('are not used while the owner has chosen the offline model', async () => {
    const vendors = { mine: { provider: 'openai', config: { apiKey: 'a' }, provides: ['m'] } };
    expect(await statusOf({ vendors, provider: 'offline' })).to.match(/^\*\*Provider:\*\* offline/);
  });

  describe('at work', () => {
    async function openTwo(first: Parameters<typeof startOpenAiStandIn>[0], second: typeof first) {
      const openai = await startOpenAiStandIn(first);
      const claude = await startAnthropicStandIn(second);
      const at = ({ baseUrl }: StandIn) => ({ baseUrl });
      const harness = await openRoute(CHAT, {
        settings: {
          retryDelayMs: 0,
          retries: 0,
          vendors: {
            local: { provider: 'openai', config: { ...at(openai), api: 'chat' }, provides: ['llama.*'] },
            claude: { provider: 'anthropic', config: at(claude), provides: ['claude-.*', 'plain'] },
          },
        },
      });
      return {
        ...harness,
        openai,
        claude,
        async [Symbol.asyncDispose]() {
          for (const one of [harness, openai, claude]) await one[Symbol.asyncDispose]();
        },
      };
    }

    it('route each request by its model', async () => {
      await using harness = await openTwo({ script: () => say('from llama') }, { script: () => say('from claude') });
      const texts = [];
      for (const model of ['llama-3', 'claude-3-opus', undefined]) {
        const { content, provider } = await harness.llm.complete({ ...HELLO, ...(model && { model }) });
        texts.push([provider, ...content.map((block) => (block.type === 'text' ? block.text : ''))]);
      }
      expect(texts).to.deep.equal([
        ['openai', 'from llama'],
        ['anthropic', 'from claude'],
        ['anthropic', 'from claude'],
      ]);
    });

    it('ask the other models in order when one is down, rate-limited or too slow, and only then', async () => {
      await using harness = await openTwo(
        { steps: [fail(429), fail(503), fail(400), say('llama')] },
        { script: () => say('claude') },
      );
      const request = { ...HELLO, model: 'llama-3', fallbacks: ['unknown', 'llama-3', 'claude-3-opus'] };
      for (const _ of [1, 2]) expect((await harness.llm.complete(request)).provider).to.equal('anthropic');
      await failure('CINNABAR_LLM_REFUSED', () => harness.llm.complete(request));
      expect((await harness.llm.complete(request)).provider).to.equal('openai');
      const warned = harness.logs.entries.filter(({ level }) => level === 'warn').map(({ message }) => message);
      expect(warned.some((message) => message.includes('no vendor provides the model "unknown"'))).to.equal(true);
    });

    it("fail with the first model's trouble when all are down", async () => {
      await using harness = await openTwo({ script: () => fail(429) }, { script: () => fail(500) });
      const request = { ...HELLO, model: 'llama-3', fallbacks: ['claude-3-opus'] };
      await failure('CINNABAR_LLM_RATE_LIMITED', () => harness.llm.complete(request));
    });

    it('let a model that is down rest without silencing the others, and try it again with a single request', async () => {
      await using harness = await openTwo({ script: () => fail(500) }, { script: () => say('ok') });
      const llama = { ...HELLO, model: 'llama-3' };
      for (const _ of [1, 2, 3, 4, 5]) await failure('CINNABAR_LLM_UNAVAILABLE', () => harness.llm.complete(llama));
      const resting = await failure('CINNABAR_LLM_PAUSED', () => harness.llm.complete(llama));
      expect(resting.message).to.include('30 s');
      expect(harness.openai.requests).to.have.length(5);
      // The breaker of another model of the same vendor is separate.
      await failure('CINNABAR_LLM_UNAVAILABLE', () => harness.llm.complete({ ...HELLO, model: 'llama-4' }));
      expect((await harness.llm.complete(HELLO)).provider).to.equal('anthropic');
      expect((await harness.llm.complete({ ...llama, fallbacks: ['claude-3-opus'] })).provider).to.equal('anthropic');

      harness.clock.advance(30_000);
      await failure('CINNABAR_LLM_UNAVAILABLE', () => harness.llm.complete(llama));
      await failure('CINNABAR_LLM_PAUSED', () => harness.llm.complete(llama));
      expect(harness.openai.requests).to.have.length(7);
    });

    it('leave a fallback time to answer when the first model hangs', async () => {
      await using harness = await openTwo({ script: () => hang() }, { script: () => say('claude') });
      const answer = harness.llm.complete({ ...HELLO, model: 'llama-3', fallbacks: ['claude-3-opus'] });
      await harness.openai.arrived(1);
      harness.clock.advance(80_000);
      expect((await answer).provider).to.equal('anthropic');
    });
  });

  it('rest by themselves, each key and each model', async () => {
    await using harness = await openRoute(CHAT, {
      script: ({ model }) => (model === 'broken' ? fail(500) : say('ok')),
      settings: { retries: 0 },
    });
    const withKey = (apiKey: string) => ({
      own: { provider: 'openai', config: { apiKey, baseUrl: harness.api.baseUrl, api: 'chat' }, provides: ['.*'] },
    });
    const broken = { ...HELLO, model: 'broken' };
    harness.set({ vendors: withKey(KEY), model: 'broken' });
    for (let n = 0; n < 5; n += 1) await failure('CINNABAR_LLM_UNAVAILABLE', () => harness.llm.complete(broken));
    await failure('CINNABAR_LLM_PAUSED', () => harness.llm.complete(broken));
    expect(await harness.llm.complete({ ...HELLO, model: 'other' })).to.include({ provider: 'openai' });
    harness.set({ vendors: withKey('another'), model: 'broken' });
    // The stand-in refuses the other key, but it is asked.
    await failure('CINNABAR_LLM_REFUSED', () => harness.llm.complete(broken));
    harness.set({ vendors: withKey(KEY), model: 'broken' });
    await failure('CINNABAR_LLM_PAUSED', () => harness.llm.complete(broken));
  });
});
