import { createTestHost } from '@cinnabar/core/testing';
import { fail, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { Llm, SettingsCatalog } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { makeFolder } from '../../support/folder.js';
import { ask, DICE, from } from './harness.js';

const HELLO = ask([from('Alice', 'roll 2 dice with 6 sides')], { tools: [DICE] });

describe('llm plugin', () => {
  it('answers offline when nothing is configured', async () => {
    await using host = await createTestHost({ plugins: ['llm'] });
    const llm = host.resolve(Llm);
    expect(llm.current).to.deep.equal({ provider: 'offline', model: 'offline' });
    const { provider, content } = await llm.complete(HELLO);
    expect(provider).to.equal('offline');
    expect(content[0]).to.deep.include({ type: 'tool_use', name: 'roll_dice', input: { sides: 6, times: 2 } });
  });

  it('uses the server that the environment names, and follows a changed setting without a restart', async () => {
    await using api = await startOpenAiStandIn({ key: 'sk-secret-key', script: () => say('Hello from afar') });
    const env = { OPENAI_API_KEY: 'sk-secret-key', OPENAI_BASE_URL: api.baseUrl, OPENAI_MODEL: 'far-1' };
    await using host = await createTestHost({ plugins: ['llm'], env });
    const llm = host.resolve(Llm);
    expect(llm.current).to.deep.equal({ provider: 'openai', model: 'far-1' });
    expect((await llm.complete(HELLO)).content).to.deep.equal([{ type: 'text', text: 'Hello from afar' }]);

    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    await host.resolve(SettingsCatalog).set('llm', 'model', 'far-2', actor);
    await host.resolve(SettingsCatalog).set('llm', 'api', 'chat', actor);
    expect((await llm.complete(HELLO)).content).to.deep.equal([{ type: 'text', text: 'Hello from afar' }]);
    expect(llm.current).to.deep.equal({ provider: 'openai', model: 'far-2' });
    expect(api.requests.map(({ path, prompt }) => [path, prompt.model])).to.deep.equal([
      ['/v1/responses', 'far-1'],
      ['/v1/chat/completions', 'far-2'],
    ]);
  });

  it('takes vendors from the configuration files, and sees an edit with the next request', async () => {
    await using api = await startOpenAiStandIn({ key: 'sk-secret-key', script: () => say('Hello from afar') });
    const vendor = (pattern: string, key = 'FAR_KEY') =>
      `vendors:\n  far:\n    config: {openai_api_key: "\${${key}}", baseUrl: "${api.baseUrl}"}\n    provides: [${pattern}]\n`;
    using folder = makeFolder({ 'shared.yaml': vendor('far-1') });
    const env = { FAR_KEY: 'sk-secret-key' };
    await using host = await createTestHost({ plugins: ['llm'], env, configDir: folder.path });
    const llm = host.resolve(Llm);
    expect(llm.current).to.deep.equal({ provider: 'openai', model: 'far-1' });
    expect((await llm.complete(HELLO)).content).to.deep.equal([{ type: 'text', text: 'Hello from afar' }]);

    folder.write('shared.yaml', vendor('far-2'));
    expect((await llm.traits()).model).to.equal('far-2');
    folder.write('shared.yaml', `vendors:\n  far:\n    provides: far-2\n`);
    const { message } = await failure('CINNABAR_LLM_NOT_CONFIGURED', () => llm.complete(HELLO));
    expect(message).to.match(/shared\.yaml:3: vendors\.far\.provides: /);
  });

  it('tells members of a refused key in a plain sentence, and the owner where and why', async () => {
    await using api = await startOpenAiStandIn({ key: 'sk-the-right-key', script: () => say('never') });
    const env = { OPENAI_API_KEY: 'sk-a-wrong-key', OPENAI_BASE_URL: api.baseUrl, OPENAI_MODEL: 'far-1' };
    await using host = await createTestHost({ plugins: ['llm', 'ai', 'chat'], env });
    host.alice.say(host.general, '!ai hello');
    await host.settled();
    const told = host.general.messages.at(-1)?.content;
    expect(told).to.contain('The language model did not accept the request');
    expect(told).to.not.match(/OPENAI|API_KEY|127\.0\.0\.1|localhost|:\d{4}/);
    await host.advance(60_000);
    const toOwner = host.you
      .openDm(host.bot)
      .messages.map(({ content }) => content)
      .join('\n');
    expect(toOwner).to.contain('did not accept the key in OPENAI_API_KEY').and.to.contain('`!llm status`');
  });

  it('shows its status to the owner alone, without the key', async () => {
    const env = { OPENAI_API_KEY: 'sk-secret-key', OPENAI_BASE_URL: 'http://gpu.example:8000/v1' };
    await using host = await createTestHost({ plugins: ['llm'], env });
    host.you.say(host.general, '!llm status');
    await host.settled();
    const status = await host.discord.expectMessage({ author: host.bot, content: /Provider/ });
    expect(status.content).to.include('gpu.example:8000').and.to.include('**Key:** set').and.not.to.include('secret');

    host.alice.say(host.general, '!llm status');
    await host.settled();
    const denial = await host.discord.expectMessage({ author: host.bot });
    expect(denial.content).to.include('You may not').and.not.to.include('gpu.example');
  });

  it('keeps `current` up to date without requests to the model', async () => {
    const env = { OPENAI_API_KEY: 'k', OPENAI_MODEL: 'far-1' };
    await using host = await createTestHost({ plugins: ['llm'], env });
    const llm = host.resolve(Llm);
    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    await host.resolve(SettingsCatalog).set('llm', 'model', 'far-2', actor);
    expect(llm.current).to.deep.equal({ provider: 'openai', model: 'far-2' });
    await host.resolve(SettingsCatalog).set('llm', 'provider', 'anthropic', actor);
    expect(llm.current).to.deep.equal({ provider: 'none', model: 'not configured' });
    await host.resolve(SettingsCatalog).set('llm', 'provider', 'offline', actor);
    expect(llm.current).to.deep.equal({ provider: 'offline', model: 'offline' });
  });

  it('takes vendors from the configuration, and shows them, their state and none of their keys', async () => {
    await using local = await startOpenAiStandIn({ key: 'sk-local-secret', script: () => fail(503) });
    const vendors = {
      local: {
        provider: 'openai',
        config: { apiKey: `\${${'LOCAL_KEY'}}`, baseUrl: local.baseUrl, api: 'chat' },
        provides: ['llama-3', 'llama.*'],
      },
      claude: { config: { anthropic_api_key: 'sk-ant-hush' }, provides: ['claude-.*'] },
    };
    await using host = await createTestHost({
      plugins: ['llm'],
      env: { LOCAL_KEY: 'sk-local-secret' },
      settings: { llm: { vendors, retries: 0 } },
    });
    const llm = host.resolve(Llm);
    expect(llm.current).to.deep.equal({ provider: 'openai', model: 'llama-3' });
    for (const _ of [1, 2, 3, 4, 5]) await failure('CINNABAR_LLM_UNAVAILABLE', () => llm.complete(HELLO));
    await failure('CINNABAR_LLM_PAUSED', () => llm.complete(HELLO));

    host.you.say(host.general, '!llm status');
    await host.settled();
    const status = await host.discord.expectMessage({ author: host.bot, content: /Provider/ });
    expect(status.content)
      .to.match(/\*\*local\*\* \(`llama-3`, `llama\.\*`\): openai at 127\.0\.0\.1:\d+, key set; llama-3 did not answer/)
      .and.to.match(/\*\*claude\*\* \(`claude-\.\*`\): anthropic at api\.anthropic\.com, key set; answers/)
      .and.not.to.match(/secret|hush/);
    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    const shown = await host.resolve(SettingsCatalog).describe('llm', actor);
    expect(shown.find(({ key }) => key === 'vendors')?.value).to.equal('(set)');
  });

  it('starts with a configuration that is wrong, and says what is wrong when asked', async () => {
    await using host = await createTestHost({ plugins: ['llm'], settings: { llm: { provider: 'anthropic' } } });
    host.you.say(host.general, '!llm status');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: /ANTHROPIC_API_KEY is not set/ });
  });
});
