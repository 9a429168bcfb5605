import { createTestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { SettingsCatalog } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../../support/codes.js';
import { makeFolder } from '../../../support/folder.js';

describe('chat: configuration at work', () => {
  it('stops the start with file and line for `mode: prefil` and `temperature: hot` in the file of a bot', async () => {
    using folder = makeFolder({ 'bots/claude.yaml': 'maxImages: 2\nmode: prefil\ntemperature: hot\n' });
    const llm = scriptedLlm([]);
    const options = { plugins: ['ai', 'chat', llm], configDir: folder.path, botName: 'claude' };
    const { message } = await failure('CINNABAR_CONFIG_INVALID', () => createTestHost(options));
    expect(message).to.match(/bots\/claude\.yaml:2: mode: .*"chat"\|"prefill"/);
    expect(message).to.match(/bots\/claude\.yaml:3: temperature: .*number/);
  });

  it('keeps what holds when a file gets a mistake while the bot runs, and starts with an empty key', async () => {
    using folder = makeFolder({ 'shared.yaml': 'temperature:\nmaxTokens: 100\n' });
    const llm = scriptedLlm([say('1')]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm], configDir: folder.path });
    folder.write('shared.yaml', 'temperature: hot\nmaxTokens: 90\n');
    host.alice.say(host.general, '!ai Hello');
    await host.settled();
    expect(llm.requests[0]).to.include({ maxTokens: 90 }).and.not.have.property('temperature');
  });

  it('follows files, settings and pins from one answer to the next', async () => {
    using folder = makeFolder({ 'shared.yaml': 'temperature: 0.1\ntopP: 0.1\n', 'bots/claude.yaml': 'topP: 0.2\n' });
    const llm = scriptedLlm([say('1'), say('2'), say('3'), say('4')]);
    await using host = await createTestHost({
      plugins: ['ai', 'chat', llm],
      configDir: folder.path,
      botName: 'claude',
    });
    const asked = async () => {
      host.alice.say(host.general, '!ai Hello');
      await host.settled();
      const { temperature, topP, stopSequences } = llm.requests.at(-1) ?? {};
      return { temperature, topP, stops: stopSequences?.includes('ENOUGH') ?? false };
    };
    expect(await asked()).to.deep.equal({ temperature: 0.1, topP: 0.2, stops: false });

    folder.write('shared.yaml', 'temperature: 0.2\n');
    expect(await asked()).to.deep.equal({ temperature: 0.2, topP: 0.2, stops: false });

    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    await host.resolve(SettingsCatalog).set('chat', 'temperature', '0.3', actor);
    expect(await asked()).to.deep.equal({ temperature: 0.3, topP: 0.2, stops: false });

    const config = host.you.say(host.general, '.config claude\nstopSequences: [ENOUGH]\n');
    host.you.pin(config);
    await host.settled();
    expect(await asked()).to.deep.equal({ temperature: 0.3, topP: 0.2, stops: true });
  });
});
