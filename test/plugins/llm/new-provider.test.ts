import { createTestHost } from '@cinnabar/core/testing';
import { llmPlugin } from '@cinnabar/plugin-llm/dist/index.js';
import { defineProvider, httpUrl, keyVariable, nameVariable } from '@cinnabar/plugin-llm/dist/providers/definition.js';
import { PROVIDERS } from '@cinnabar/plugin-llm/dist/providers/registry.js';
import { Llm, SettingsCatalog } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { ask, from, GLOBAL_SETTINGS } from './harness.js';

class ParrotError extends Error {}

/** A provider that repeats the last message, and refuses to talk about cats. Its SDK consists of this error class. */
function parrot() {
  let loads = 0;
  const definition = defineProvider({
    name: 'parrot',
    title: 'Parrot',
    autoRank: 0,
    because: 'PARROT_KEY or its base URL is set',
    variables: {
      key: 'PARROT_KEY',
      baseUrl: 'PARROT_URL',
      model: 'PARROT_MODEL',
      embeddingModel: 'PARROT_EMBEDDING_MODEL',
    },
    settings: { parrotBaseUrl: httpUrl.optional().describe('Address of the parrot; by default PARROT_URL') },
    environment: {
      PARROT_KEY: keyVariable.optional().describe('Key for the parrot'),
      PARROT_URL: httpUrl.optional().describe('Address of the parrot'),
      PARROT_MODEL: nameVariable.optional().describe('The model to use with the parrot'),
      PARROT_EMBEDDING_MODEL: nameVariable.optional().describe('The model for embeddings of the parrot'),
    },
    vendorConfig: { parrot_key: keyVariable.exactOptional() },
    impliedBy: ['parrot_key'],
    defaultModel: 'ara-1',
    partsOf: (settings, env) => ({
      key: env.PARROT_KEY || undefined,
      baseUrl: settings.parrotBaseUrl || env.PARROT_URL || undefined,
    }),
    vendorParts: ({ apiKey, parrot_key: key, baseUrl }) => ({ key: apiKey ?? key, baseUrl }),
    source: ({ key = '', baseUrl = 'https://parrot.example' }) => ({ key, baseUrl, cage: 'golden' }),
    details: ({ cage }) => [['Cage', cage]],
    maxTemperature: 0.5,
    familyOf: () => ({
      names: /^/,
      contextTokens: 77,
      images: false,
      cache: { kind: 'none', breakpoints: 0, minTokens: 0, ttls: [], lookBackBlocks: 0 },
      price: { input: 1, output: 2, cacheRead: 1, cacheWrite5m: 1, cacheWrite1h: 1 },
      prefill: false,
    }),
    async loadSdk() {
      loads += 1;
      return { ParrotError };
    },
    client: (sdk, { key }) => ({ ...sdk, key }),
    modes: () => ['chat'],
    async send(client, { request, model }) {
      const text = request.messages.at(-1)?.content.map((block) => (block.type === 'text' ? block.text : '')) ?? [];
      if (text.includes('cat')) throw new client.ParrotError(`no cats, says ${client.key}`);
      const usage = { inputTokens: 3, outputTokens: 4 };
      return {
        ok: true,
        reply: { content: [{ type: 'text', text: text.join() }], stopReason: 'end_turn', usage, model },
      };
    },
    render: ({ request }) => request.messages,
    embed: async (_client, { texts, model }) => ({
      ok: true,
      reply: { vectors: texts.map(({ length }) => Float32Array.of(length, 1)), model, tokens: texts.length },
    }),
    account: ({ key }) => ({
      title: 'Parrot',
      keyVariable: 'PARROT_KEY',
      secrets: [key],
      host: 'parrot.example',
      notFoundHint: '',
    }),
    readError: (error) =>
      error instanceof ParrotError
        ? { status: 400, kinds: [], param: undefined, message: error.message, headers: undefined }
        : undefined,
  });
  return { plugin: llmPlugin([...PROVIDERS, definition]), loads: () => loads };
}

const KEY = 'polly-secret-1';

describe('llm: a new provider is one definition', () => {
  it('that settings, environment, `auto`, traits, embeddings, errors and status see', async () => {
    const { plugin, loads } = parrot();
    expect(plugin.manifest.description).to.include('Bedrock, Parrot, compatible servers');
    const env = { OPENAI_API_KEY: 'k', PARROT_KEY: KEY, PARROT_EMBEDDING_MODEL: 'ara-e' };
    await using host = await createTestHost({ plugins: [plugin], env });
    const llm = host.resolve(Llm);
    expect(llm.current).to.deep.equal({ provider: 'parrot', model: 'ara-1' });
    expect((await llm.traits()).contextTokens).to.equal(77);
    expect(loads()).to.equal(0);
    for (const word of ['Hello', 'Again']) {
      const { content, provider } = await llm.complete(ask([from('Alice', word)]));
      expect([content, provider]).to.deep.equal([[{ type: 'text', text: word }], 'parrot']);
    }
    const { charge } = ask([]);
    expect((await llm.embed(['four'], { charge }))?.vectors).to.deep.equal([Float32Array.of(4, 1)]);
    expect(loads()).to.equal(1);
    const { message } = await failure('CINNABAR_LLM_REFUSED', () => llm.complete(ask([from('Alice', 'cat')])));
    expect(message).to.include('no cats').and.not.include(KEY);
    await failure('CINNABAR_LLM_REFUSED', () => llm.complete(ask([from('Alice', 'Hi')], { temperature: 0.6 })));

    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    const catalog = host.resolve(SettingsCatalog);
    const listed = await catalog.describe('llm', actor);
    expect(listed.map(({ key }) => key)).to.include('parrotBaseUrl');
    await catalog.set('llm', 'parrotBaseUrl', 'https://cage.example:99', actor);
    await catalog.set('llm', 'provider', 'parrot', actor);
    host.you.say(host.general, '!llm status');
    await host.settled();
    const { content: status } = await host.discord.expectMessage({ author: host.bot, content: /Provider/ });
    expect(status)
      .to.include('**Provider:** parrot (the setting provider is parrot)')
      .and.include('**Cage:** golden\n**Server:** cage.example:99 (answers)\n**Key:** set')
      .and.include('**Embeddings:** ara-e by parrot')
      .and.not.include(KEY);
  });

  it('which vendors may name or imply', async () => {
    const { plugin } = parrot();
    const vendors = {
      loud: { provider: 'parrot', config: { baseUrl: 'https://loud.example' }, provides: ['ara.*'] },
      kept: { config: { parrot_key: `\${${'CAGE_KEY'}}` }, provides: ['macaw'] },
    };
    const settings = { llm: { vendors, model: 'macaw' } };
    await using host = await createTestHost({ plugins: [plugin], env: { CAGE_KEY: KEY }, settings });
    const llm = host.resolve(Llm);
    const { content } = await llm.complete(ask([from('Alice', 'Hello')]));
    expect(content).to.deep.equal([{ type: 'text', text: 'Hello' }]);
    host.you.say(host.general, '!llm status');
    await host.settled();
    const { content: status } = await host.discord.expectMessage({ author: host.bot, content: /Provider/ });
    expect(status)
      .to.include('**loud** (`ara.*`): parrot at loud.example, key not set; answers')
      .and.include('**kept** (`macaw`): parrot at parrot.example, key set; answers');
  });

  it('with variables that are checked when the plugin starts', async () => {
    const { plugin } = parrot();
    const started = createTestHost({ plugins: [plugin], env: { PARROT_URL: 'not an address' } });
    const problem = await started.then(String, String);
    expect(problem).to.include('the environment variable PARROT_URL is not right: must be an http or https address');
  });

  it('which leaves the meaning of stored settings unchanged', () => {
    const stored = {
      provider: 'openai',
      model: 'far-1',
      api: 'chat',
      openaiBaseUrl: 'http://gpu:8000/v1',
      anthropicBaseUrl: '',
      googleBaseUrl: 'https://g.example',
      bedrockBaseUrl: 'https://b.example',
      images: false,
      models: { 'llama*': { contextTokens: 5 } },
      vendors: {
        aws: {
          provider: 'bedrock',
          config: {
            region: 'r',
            accessKeyId: 'a',
            secretAccessKey: 's',
            sessionToken: 't',
            aws_access_key: 'b',
            aws_secret_key: 'c',
            aws_session_token: 'd',
            aws_region: 'e',
          },
          provides: ['x'],
        },
        own: {
          config: {
            apiKey: 'k',
            baseUrl: 'http://x/v1',
            api: 'responses',
            anthropic_api_key: 'a',
            openai_api_key: 'o',
            google_api_key: 'g',
            headers: { 'X-Tenant': 't' },
            body: { min_p: 0.1 },
          },
          provides: ['y'],
        },
      },
    };
    expect(GLOBAL_SETTINGS.parse(stored)).to.deep.include(stored);
    expect(Object.keys(GLOBAL_SETTINGS.shape)).to.have.members([
      ...['provider', 'model', 'embeddingModel', 'temperature', 'maxTokens', 'maxAnswerBytes', 'maxToolCalls'],
      ...['timeoutMs', 'deadlineMs', 'retries', 'retryDelayMs', 'stream', 'keepBodies', 'images', 'api', 'models'],
      ...['vendors', 'openaiBaseUrl', 'anthropicBaseUrl', 'googleBaseUrl', 'bedrockBaseUrl'],
    ]);
  });
});
