import { isPinnedConfig } from '@cinnabar/plugin-chat/config/pin';
import { expect } from 'chai';
import { effective, type Sources } from './layers.js';

describe('chat: a pinned .config message', () => {
  const pinned = (pin: string, sources: Sources = {}) => effective({ ...sources, pins: [pin] });

  it('is known by its first line', () => {
    for (const content of ['.config', '.config\na: 1', '.CONFIG claude\na: 1', ' .config\na: 1', '.config\r\na: 1'])
      expect(isPinnedConfig(content), content).to.equal(true);
    for (const content of ['.configure', 'see .config', '..config', 'config\na: 1', '.history'])
      expect(isPinnedConfig(content), content).to.equal(false);
  });

  it('holds YAML below it, in a code block or not, with or without the first line', async () => {
    for (const pin of [
      '.config\ntemperature: 0.3',
      '.config\n---\ntemperature: 0.3\n',
      '.config\n```yaml\ntemperature: 0.3\n```',
      '.config\r\n```\r\ntemperature: 0.3\r\n```\r\n',
      'temperature: 0.3',
    ]) {
      const { config, problems } = await pinned(pin);
      expect(problems, pin).to.deep.equal([]);
      expect(config.temperature, pin).to.equal(0.3);
    }
  });

  it('may be for certain bots', async () => {
    const names = { botName: 'claude-main', discordNames: ['Cinnabar'], files: { a: 'name: Claude Opus' } };
    for (const name of ['claude-main', 'CINNABAR', 'claude opus', 'haiku, Claude Opus'])
      expect((await pinned(`.config ${name}\ntemperature: 0.3`, names)).config.temperature, name).to.equal(0.3);
    for (const name of ['claude', 'haiku', 'haiku, sonnet']) {
      const { config, problems } = await pinned(`.config ${name}\ntemperature: 0.3\nnonsense: [`, names);
      expect(config.temperature, name).to.equal(undefined);
      expect(problems, name).to.deep.equal([]);
    }
  });

  it('may be written as for other bots of this family', async () => {
    const { config, origin } = await pinned('.config\nrecency_window: 100\ntop_p: 0.5');
    expect(config).to.include({ recencyWindow: 100, topP: 0.5 });
    expect(origin.topP).to.equal('pin 1:3');
  });

  it('gives way to a later one', async () => {
    const { config } = await effective({ pins: ['.config\ntemperature: 0.1\ntopP: 0.1', '.config\ntemperature: 0.2'] });
    expect(config).to.include({ temperature: 0.2, topP: 0.1 });
  });

  it('cannot set what is for the owner or for admins', async () => {
    const { config, problems } = await pinned(
      '.config\nbudgets: {guild: {usdPerDay: 1000}}\nallowedModels: ["*"]\nfallbackModels: [dear]\nhistoryRoles: [everyone]\nsystemPrompt: obey\nname: Alice\ncache: 1h\n',
    );
    expect(config.budgets.guild).to.deep.equal({});
    expect(config).to.deep.include({ allowedModels: [], fallbackModels: [], historyRoles: [], cache: 'auto' });
    expect(problems).to.deep.equal([
      'pin 1:2: budgets.guild.usdPerDay: can be set in the configuration files only',
      'pin 1:3: allowedModels: can be set in the configuration files only',
      'pin 1:4: fallbackModels: can be set in the configuration files only',
      'pin 1:5: historyRoles: can be set by admins only, with `!set chat`',
      'pin 1:6: systemPrompt: can be set by admins only, with `!set chat`',
      'pin 1:7: name: can be set by admins only, with `!set chat`',
      'pin 1:8: cache: can be set by admins only, with `!set chat`',
    ]);
  });

  it('cannot set what is another plugin’s: keys, vendors, the host', async () => {
    const { problems } = await pinned(
      '.config\nvendors: {x: {}}\nanthropic_api_key: sk\nhost: {owners: []}\nmcp: {}\n',
    );
    expect(problems).to.have.length(4);
    for (const problem of problems) expect(problem).to.match(/^pin 1:\d: \w+: there is no such key\./);
  });

  it('cannot raise what costs money above what the admins have left', async () => {
    const { config, problems } = await pinned('.config\nmaxTokens: 300', { settings: { maxTokens: 200 } });
    expect(config.maxTokens).to.equal(200);
    expect(problems).to.deep.equal(['pin 1:2: maxTokens: may be lowered here, not raised above 200']);
    expect((await pinned('.config\ntoolsEnabled: false')).config.toolsEnabled).to.equal(false);
  });

  it('with a mistake is left out with a sentence, and breaks nothing', async () => {
    expect((await pinned('.config\n```\ntemperature: [')).problems[0]).to.match(/^pin 1:\d: it is not valid YAML: /);
    expect((await pinned('.config\ntemprature: 1')).problems).to.deep.equal([
      'pin 1:2: temprature: there is no such key. Did you mean temperature?',
    ]);
    expect((await pinned('.config\ntemperature:')).problems).to.deep.equal(['pin 1:2: temperature: has no value']);
    expect((await pinned('.config\njust words')).problems[0]).to.match(/^pin 1:2: it must hold keys with values/);
    expect((await pinned(`.config\ninstructions: ${'x'.repeat(20_000)}`)).problems[0]).to.match(
      /^pin 1:2: it is larger/,
    );
    expect((await pinned('.config')).problems).to.deep.equal([]);
  });
});
