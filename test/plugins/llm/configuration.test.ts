import { createBreakers } from '@cinnabar/plugin-llm/dist/circuit-breaker.js';
import { PROVIDERS } from '@cinnabar/plugin-llm/dist/providers/registry.js';
import { createRouter } from '@cinnabar/plugin-llm/dist/routes.js';
import { describeStatus } from '@cinnabar/plugin-llm/dist/status.js';
import { z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { recordingLogger } from '../../support/logs.js';
import { ask, ENVIRONMENT, from, GLOBAL_SETTINGS, openRoute, ROUTES } from './bench.js';

const settings = (values: object = {}) => GLOBAL_SETTINGS.parse(values);
const env = (values: object = {}) => ENVIRONMENT.parse(values);
/** What answers when no vendors are set up. */
const configure = async (values: object = {}, variables: object = {}) => {
  const { model, vendorFor } = await createRouter(PROVIDERS).routes(settings(values), env(variables));
  return { model, source: vendorFor(model).source };
};
const status = (values: object, variables: object) =>
  describeStatus(
    createRouter(PROVIDERS),
    createBreakers(createManualClock(), recordingLogger()),
    settings(values),
    env(variables),
  );

describe('llm configuration', () => {
  it('takes the provider that has a key or a base URL, and the offline model when none has', async () => {
    const chosen = async (values: object) => (await configure({}, values)).source.provider;
    expect(await chosen({})).to.equal('offline');
    expect(await chosen({ OPENAI_API_KEY: '', ANTHROPIC_BASE_URL: ' ' })).to.equal('offline');
    expect(await chosen({ OPENAI_API_KEY: 'k' })).to.equal('openai');
    expect(await chosen({ OPENAI_BASE_URL: 'http://localhost:11434/v1' })).to.equal('openai');
    expect(await chosen({ ANTHROPIC_API_KEY: 'k' })).to.equal('anthropic');
    expect(await chosen({ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' })).to.equal('anthropic');
  });

  it('lets a setting win over the variable of the same meaning', async () => {
    const { model, source } = await configure(
      { model: 'mine', openaiBaseUrl: 'http://gpu:8000/v1/' },
      { OPENAI_MODEL: 'theirs', OPENAI_BASE_URL: 'http://localhost:1/v1' },
    );
    expect(model).to.equal('mine');
    expect(source).to.deep.equal({ provider: 'openai', api: 'responses', baseUrl: 'http://gpu:8000/v1' });
  });

  it('takes an Anthropic address with or without /v1', async () => {
    for (const url of ['https://proxy.example/v1/', 'https://proxy.example']) {
      const { source } = await configure({}, { ANTHROPIC_BASE_URL: url });
      expect(source).to.include({ baseUrl: 'https://proxy.example' });
    }
  });

  it('names the variable that is missing, and what would be right', async () => {
    const openai = await failure('CINNABAR_LLM_NOT_CONFIGURED', () => configure({ provider: 'openai' }));
    expect(openai.message).to.include('OPENAI_API_KEY is not set').and.to.include('OPENAI_BASE_URL');
    const anthropic = await failure('CINNABAR_LLM_NOT_CONFIGURED', () =>
      configure({ provider: 'anthropic' }, { OPENAI_API_KEY: 'k' }),
    );
    expect(anthropic.message).to.include('ANTHROPIC_API_KEY is not set');
    const swapped = await failure('CINNABAR_LLM_NOT_CONFIGURED', () => configure({}, { OPENAI_API_KEY: 'sk-ant-1' }));
    expect(swapped.message).to.include('put it into ANTHROPIC_API_KEY').and.not.to.include('sk-ant-1');
  });

  it('refuses addresses that are none and keys that no header can carry, without repeating the key', () => {
    const wrong = ENVIRONMENT.safeParse({
      OPENAI_BASE_URL: 'localhost:11434',
      ANTHROPIC_API_KEY: 'sk ant\nX',
      ANTHROPIC_BASE_URL: 'https://me:hush@proxy.example',
    });
    expect(wrong.error?.issues.map(({ path }) => path[0])).to.have.members([
      'OPENAI_BASE_URL',
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_BASE_URL',
    ]);
    expect(wrong.error?.message).to.include('http://localhost:11434/v1').and.not.to.include('sk ant');
  });

  it('describes and marks every variable, keys as secret', () => {
    for (const [name, schema] of Object.entries(ENVIRONMENT.shape)) {
      expect(schema.description, name).to.be.a('string');
      const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
      expect(z.globalRegistry.get(inner)?.secret ?? false, name).to.equal(/_KEY(_ID)?$|_TOKEN$/.test(name));
    }
    for (const [name, schema] of Object.entries(GLOBAL_SETTINGS.shape))
      expect(schema.description, name).to.be.a('string');
  });

  it('shows the status with the host of the server and never the key', async () => {
    const shown = await status(
      {},
      { OPENAI_API_KEY: 'sk-very-secret', OPENAI_BASE_URL: 'https://gpu.example:8000/v1?token=t' },
    );
    expect(shown).to.include('gpu.example:8000').and.to.include('**Key:** set');
    expect(shown).not.to.match(/secret|token/);
    expect(await status({}, {}))
      .to.include('offline')
      .and.to.include('OPENAI_API_KEY');
    expect(await status({ provider: 'openai' }, {})).to.match(/^⚠️ .*OPENAI_API_KEY is not set/);
  });

  it('works without a key where a base URL is set, and then sends none', async () => {
    for (const route of ROUTES) {
      await using bench = await openRoute(route, { withoutKey: true, script: () => ({ kind: 'reply', text: 'ok' }) });
      await bench.llm.complete(ask([from('Alice', 'hi')]));
      expect(bench.api.requests[0]?.hasKey, route.route).to.equal(false);
    }
  });
});
