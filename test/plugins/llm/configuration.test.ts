import { startAnthropicStandIn, startOpenAiStandIn } from '@cinnabar/local-models';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { ask, ENVIRONMENT, from, GLOBAL_SETTINGS, openRoute, ROUTES, statusOf } from './harness.js';

const [RESPONSES, , , , ANTHROPIC] = ROUTES;
const HELLO = ask([from('Alice', 'hi')]);
const say = () => ({ kind: 'reply', text: 'ok' }) as const;

describe('llm configuration', () => {
  it('takes the provider that has a key or a base URL, and the offline model when none has', async () => {
    const chosen = async (values: object) => /^\*\*Provider:\*\* (\w+)/.exec(await statusOf({}, values))?.[1];
    expect(await chosen({})).to.equal('offline');
    expect(await chosen({ OPENAI_API_KEY: '', ANTHROPIC_BASE_URL: ' ' })).to.equal('offline');
    expect(await chosen({ OPENAI_API_KEY: 'k' })).to.equal('openai');
    expect(await chosen({ OPENAI_BASE_URL: 'http://localhost:11434/v1' })).to.equal('openai');
    expect(await chosen({ ANTHROPIC_API_KEY: 'k' })).to.equal('anthropic');
    expect(await chosen({ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' })).to.equal('anthropic');
  });

  it('lets a setting win over the variable of the same meaning', async () => {
    await using mine = await startOpenAiStandIn({ script: say });
    const settings = { model: 'mine', openaiBaseUrl: `${mine.baseUrl}/` };
    await using harness = await openRoute(RESPONSES, { settings, model: 'theirs' });
    expect(await harness.llm.complete(HELLO)).to.include({ provider: 'openai', model: 'mine' });
    expect(mine.requests.map(({ path }) => path)).to.deep.equal(['/v1/responses']);
    expect(harness.api.requests).to.deep.equal([]);
  });

  it('takes an Anthropic address with or without /v1', async () => {
    await using claude = await startAnthropicStandIn({ script: say });
    const { origin } = new URL(claude.baseUrl);
    for (const url of [`${origin}/v1/`, origin]) {
      await using harness = await openRoute(ANTHROPIC, { env: { ANTHROPIC_BASE_URL: url } });
      await harness.llm.complete(HELLO);
    }
    expect(claude.requests.map(({ path }) => path)).to.deep.equal(['/v1/messages', '/v1/messages']);
  });

  it('names the variable that is missing, and what would be right', async () => {
    const openai = await statusOf({ provider: 'openai' });
    expect(openai).to.match(/^⚠️ .*OPENAI_API_KEY is not set.*OPENAI_BASE_URL/);
    const anthropic = await statusOf({ provider: 'anthropic' }, { OPENAI_API_KEY: 'k' });
    expect(anthropic).to.match(/^⚠️ .*ANTHROPIC_API_KEY is not set/);
    const swapped = await statusOf({}, { OPENAI_API_KEY: 'sk-ant-1' });
    expect(swapped)
      .to.match(/^⚠️ .*put it into ANTHROPIC_API_KEY/)
      .and.not.include('sk-ant-1');
    await using harness = await openRoute(RESPONSES, { withoutKey: true, env: { OPENAI_BASE_URL: '' } });
    const problem = await failure('CINNABAR_LLM_NOT_CONFIGURED', () => harness.llm.complete(HELLO));
    expect(problem.message).to.include('OPENAI_API_KEY is not set');
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
    const shown = await statusOf(
      {},
      { OPENAI_API_KEY: 'sk-very-secret', OPENAI_BASE_URL: 'https://gpu.example:8000/v1?token=t' },
    );
    expect(shown).to.include('gpu.example:8000').and.to.include('**Key:** set');
    expect(shown).not.to.match(/secret|token/);
    expect(await statusOf({}))
      .to.include('offline')
      .and.to.include('OPENAI_API_KEY');
    expect(await statusOf({ provider: 'openai' })).to.match(/^⚠️ .*OPENAI_API_KEY is not set/);
  });

  it('works without a key where a base URL is set, and then sends none', async () => {
    for (const route of ROUTES) {
      await using harness = await openRoute(route, { withoutKey: true, script: say });
      await harness.llm.complete(HELLO);
      expect(harness.api.requests[0]?.hasKey, route.route).to.equal(false);
    }
  });
});
