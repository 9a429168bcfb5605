import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { expect } from 'chai';
import { makeFolder } from '../../../support/folder.js';

describe('chat: what admins set, against files and pins', () => {
  const command = async (host: TestHost, text: string) => {
    host.you.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };

  it('`!set chat` refuses what cannot hold, says which layer decides otherwise, and `!ai status` shows what is in force here', async () => {
    using folder = makeFolder({ 'shared.yaml': 'maxTokens: 2000\nallowedModels: [nice-*]\nrecencyWindow: 50\n' });
    const llm = scriptedLlm(() => say('Fine.'));
    await using host = await createTestHost({
      plugins: ['admin', 'ai', 'chat', llm],
      configDir: folder.path,
      settings: {},
    });
    expect(await command(host, '!set chat maxTokens 99999')).to.contain('not raised above 2000');
    expect(await command(host, '!set chat continuationModel other')).to.contain('not one of allowedModels');
    expect(await command(host, '!set chat rollingThreshold 1000')).to.contain('not raised above 50');
    expect(await command(host, '!set chat maxTokens')).to.not.contain('99999');
    expect(await command(host, '!set chat continuationModel nice-one')).to.contain('is `nice-one` for this server now');

    const pin = host.you.say(host.general, '.config\ntemperature: 0.4\nrollingThreshold: 1000');
    host.you.pin(pin);
    await host.settled();
    expect(await command(host, '!set chat temperature 0.9')).to.match(
      /is saved as `0\.9` for this server, but here `0\.4` holds: pin \d+:1 decides/,
    );
    const status = await command(host, '!ai status');
    expect(status).to.match(/Model: `[^`]+` by `scripted` \(setting of the server\)/);
    expect(status).to.match(/• `temperature` = `0\.4` \(pin \d+:1\)/);
    expect(status).to.match(/• `maxTokens` = `2000` \([^)]*shared\.yaml:1\)/);
    expect(status).to.match(/Not used: pin \d+:2: rollingThreshold: may be lowered here, not raised above 50/);
  });

  it('`mode: prefill` with a model that does not take it is told to the owner once, and `!ai status` shows the mode in force', async () => {
    const llm = scriptedLlm(() => say('Fine.'), { modes: ['chat'] });
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm], settings: {} });
    await command(host, '!set chat mode prefill');
    expect(await command(host, '!ai status')).to.contain(
      'Mode: `chat` (setting of the server; `prefill` is set, but this model does not take it)',
    );
    await command(host, '!ai Hello');
    await command(host, '!ai Hello again');
    expect(llm.requests.map(({ mode }) => mode)).to.deep.equal(['chat', 'chat']);
    const notices = () =>
      host.you
        .openDm(host.application)
        .messages.filter(({ content }) => content.includes('does not take it, so mode `chat` is used'));
    await host.advance(5_000);
    expect(notices()).to.have.lengthOf(1);
    await command(host, '!set chat mode chat');
    expect(await command(host, '!ai status')).to.match(/^Mode: `chat` \([^;]*\)$/m);
  });
});
