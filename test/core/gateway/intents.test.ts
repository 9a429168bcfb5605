import { createHost, loadConfig } from '@cinnabar/core';
import { createTestHost, type TestHostOptions } from '@cinnabar/core/testing';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { definePlugin, type Manifest } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

const asking = (id: string, intents: Manifest['intents']) =>
  definePlugin({
    manifest: { id, version: '1.0.0', description: id, ...(intents && { intents }) },
    setup: () => undefined,
  });

describe('the intents that the bot asks for', () => {
  const askedBy = async (plugins: TestHostOptions['plugins']) => {
    await using host = await createTestHost({ plugins });
    return host.client.options.intents.toArray().sort();
  };

  it('are Guilds alone when nothing wants more', async () => {
    expect(await askedBy([asking('idle', undefined)])).to.deep.equal(['Guilds']);
  });

  it('are the union of what the loaded plugins declare, each once', async () => {
    const plugins = [
      asking('a', ['GuildMembers', 'GuildMessages']),
      asking('b', ['GuildMessages', 'GuildMessageReactions']),
    ];
    expect(await askedBy(plugins)).to.deep.equal(['GuildMembers', 'GuildMessageReactions', 'GuildMessages', 'Guilds']);
  });

  it('include what prefix commands need once there are any', async () => {
    const dice = definePlugin({
      manifest: { id: 'dice', version: '1.0.0', description: 'Rolls' },
      setup: ({ command }) => void command({ name: 'roll', description: 'Rolls', run: () => undefined }),
    });
    expect(await askedBy([dice])).to.deep.equal(['DirectMessages', 'GuildMessages', 'Guilds', 'MessageContent']);
  });

  it('include those that the configuration adds', async () => {
    using folder = makeFolder();
    await using discord = await startLocalDiscord();
    const owner = discord.createUser({ name: 'you' });
    const { token } = discord.createApplication({ name: 'Cinnabar', owner });
    folder.write('config/shared.yaml', 'host: { intents: [GuildMembers] }');
    const config = loadConfig(folder.path, { CINNABAR_DATA: 'data', DISCORD_API: discord.api });
    const host = createHost({ config, only: [] });
    try {
      await host.start(token);
      expect(host.client.options.intents.toArray().sort()).to.deep.equal(['GuildMembers', 'Guilds']);
    } finally {
      await host.stop();
    }
  });
});
