import { createBreakers } from '@cinnabar/plugin-llm/circuit-breaker';
import { SDK_LOADERS } from '@cinnabar/plugin-llm/providers/registry';
import { ENVIRONMENT, GLOBAL_SETTINGS } from '@cinnabar/plugin-llm/settings';
import { describeStatus } from '@cinnabar/plugin-llm/status';
import { configure } from '@cinnabar/plugin-llm/vendors/environment';
import { createRouter } from '@cinnabar/plugin-llm/vendors/routes';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { recordingLogger } from '../../support/logs.js';
import { ask, from, openRoute, ROUTES } from './bench.js';

const settings = (values: object = {}) => GLOBAL_SETTINGS.parse(values);
const env = (values: object = {}) => ENVIRONMENT.parse(values);
const status = (values: object, variables: object) =>
  describeStatus(
    createRouter(),
    createBreakers(createManualClock(), recordingLogger()),
    settings(values),
    env(variables),
  );

describe('llm configuration', () => {
  it('takes whoever has a key or a base URL, and the offline model when nobody has', () => {
    const chosen = (values: object) => configure(settings(), env(values)).source.provider;
    expect(chosen({})).to.equal('offline');
    expect(chosen({ OPENAI_API_KEY: '', ANTHROPIC_BASE_URL: ' ' })).to.equal('offline');
    expect(chosen({ OPENAI_API_KEY: 'k' })).to.equal('openai');
    expect(chosen({ OPENAI_BASE_URL: 'http://localhost:11434/v1' })).to.equal('openai');
    expect(chosen({ ANTHROPIC_API_KEY: 'k' })).to.equal('anthropic');
    expect(chosen({ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' })).to.equal('anthropic');
  });

  it('lets a setting win over the variable of the same meaning', () => {
    const { model, source } = configure(
      settings({ model: 'mine', openaiBaseUrl: 'http://gpu:8000/v1/' }),
      env({ OPENAI_MODEL: 'theirs', OPENAI_BASE_URL: 'http://localhost:1/v1' }),
    );
    expect(model).to.equal('mine');
    expect(source).to.deep.equal({ provider: 'openai', api: 'responses', baseUrl: 'http://gpu:8000/v1' });
  });

  it('takes an Anthropic address with or without /v1', () => {
    for (const url of ['https://proxy.example/v1/', 'https://proxy.example']) {
      const { source } = configure(settings(), env({ ANTHROPIC_BASE_URL: url }));
      expect(source).to.include({ baseUrl: 'https://proxy.example' });
    }
  });

  it('names the variable that is missing, and what would be right', async () => {
    const openai = await failure('CINNABAR_LLM_NOT_CONFIGURED', () =>
      configure(settings({ provider: 'openai' }), env()),
    );
    expect(openai.message).to.include('OPENAI_API_KEY is not set').and.to.include('OPENAI_BASE_URL');
    const anthropic = await failure('CINNABAR_LLM_NOT_CONFIGURED', () =>
      configure(settings({ provider: 'anthropic' }), env({ OPENAI_API_KEY: 'k' })),
    );
    expect(anthropic.message).to.include('ANTHROPIC_API_KEY is not set');
    const swapped = await failure('CINNABAR_LLM_NOT_CONFIGURED', () =>
      configure(settings(), env({ OPENAI_API_KEY: 'sk-ant-1' })),
    );
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
      expect(schema.unwrap().meta()?.secret ?? false, name).to.equal(/_KEY(_ID)?$|_TOKEN$/.test(name));
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

  it('loads an SDK with the first request that needs it, and only once', async () => {
    const [route] = ROUTES;
    const loaded: string[] = [];
    await using bench = await openRoute(route, {
      script: () => ({ kind: 'reply', text: 'ok' }),
      loaders: {
        ...SDK_LOADERS,
        openai: () => {
          loaded.push('openai');
          return import('openai');
        },
        anthropic: () => {
          loaded.push('anthropic');
          return import('@anthropic-ai/sdk');
        },
      },
    });
    expect(loaded).to.deep.equal([]);
    for (const _ of [1, 2]) await bench.llm.complete(ask([from('Alice', 'hi')]));
    expect(loaded).to.deep.equal(['openai']);
  });

  it('works without a key where a base URL is set, and then sends none', async () => {
    for (const route of ROUTES) {
      await using bench = await openRoute(route, { withoutKey: true, script: () => ({ kind: 'reply', text: 'ok' }) });
      await bench.llm.complete(ask([from('Alice', 'hi')]));
      expect(bench.api.requests[0]?.hasKey, route.route).to.equal(false);
    }
  });
});
