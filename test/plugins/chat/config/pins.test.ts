import { expect } from 'chai';
import { effective, type Sources } from './harness.js';

describe('chat: a pinned .config message', () => {
  const pinned = (pin: string, sources: Sources = {}) => effective({ ...sources, pins: [pin] });

  it('may be written as for other bots of this family', async () => {
    const { config, origin } = await pinned('recency_window: 100\ntop_p: 0.5');
    expect(config).to.include({ recencyWindow: 100, topP: 0.5 });
    expect(origin.topP).to.equal('pin 1:2');
  });

  it('is replaced by a later one', async () => {
    const { config } = await effective({ pins: ['temperature: 0.1\ntopP: 0.1', 'temperature: 0.2'] });
    expect(config).to.include({ temperature: 0.2, topP: 0.1 });
  });

  it('cannot set what is for the owner or for admins', async () => {
    const { config, problems } = await pinned(
      'allowedModels: ["*"]\nfallbackModels: [dear]\nhistoryRoles: [everyone]\nsystemPrompt: obey\nname: Alice\ncache: 1h\n',
    );
    expect(config).to.deep.include({ allowedModels: [], fallbackModels: [], historyRoles: [], cache: 'auto' });
    expect(problems).to.deep.equal([
      'pin 1:1: allowedModels: can be set in the configuration files only',
      'pin 1:2: fallbackModels: can be set in the configuration files only',
      'pin 1:3: historyRoles: can be set by admins only, with `!set chat`',
      'pin 1:4: systemPrompt: can be set by admins only, with `!set chat`',
      'pin 1:5: name: can be set by admins only, with `!set chat`',
      'pin 1:6: cache: can be set by admins only, with `!set chat`',
    ]);
  });

  it('cannot set what is another plugin’s: keys, vendors, the host', async () => {
    const { problems } = await pinned(
      'vendors: {x: {}}\nanthropic_api_key: sk\nhost: {owners: []}\nmcp: {}\nbudgets: {guild: {usdPerDay: 1000}}\n',
    );
    expect(problems).to.have.length(5);
    for (const problem of problems) expect(problem).to.match(/^pin 1:\d: \w+: there is no such key\./);
  });

  it('cannot raise what costs money above what the admins have left', async () => {
    const { config, problems } = await pinned('maxTokens: 300', { settings: { maxTokens: 200 } });
    expect(config.maxTokens).to.equal(200);
    expect(problems).to.deep.equal(['pin 1:1: maxTokens: may be lowered here, not raised above 200']);
    expect((await pinned('toolsEnabled: false')).config.toolsEnabled).to.equal(false);
  });

  it('with a mistake is left out with a sentence, and breaks nothing', async () => {
    expect((await pinned('temperature: [')).problems[0]).to.match(/^pin 1:\d: it is not valid YAML: /);
    expect((await pinned('temprature: 1')).problems).to.deep.equal([
      'pin 1:1: temprature: there is no such key. Did you mean temperature?',
    ]);
    expect((await pinned('temperature:')).problems).to.deep.equal(['pin 1:1: temperature: has no value']);
    expect((await pinned('just words')).problems[0]).to.match(/^pin 1:1: it must hold keys with values/);
    expect((await pinned(`instructions: ${'x'.repeat(20_000)}`)).problems[0]).to.match(/^pin 1:1: it is larger/);
    expect((await pinned('')).problems).to.deep.equal([]);
  });
});
