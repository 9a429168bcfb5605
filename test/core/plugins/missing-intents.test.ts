import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, type Manifest } from '@cinnabar/sdk';
import { expect } from 'chai';
import { readLogs } from '../../support/log-files.js';

describe('a listener whose event Discord would not send', () => {
  const WELCOMES = 'guildMemberAdd';

  it('is reported with the line to add to the manifest', async () => {
    const hearing = (
      id: string,
      event: 'guildMemberAdd' | 'messageCreate' | 'clientReady',
      manifest: Partial<Manifest>,
    ) =>
      definePlugin({
        manifest: { id, version: '1.0.0', description: 'Hears', ...manifest },
        setup: ({ on }) => void on(event, () => undefined),
      });
    await using host = await createTestHost({
      logFiles: true,
      plugins: [
        hearing('deaf', WELCOMES, { intents: ['Guilds'] }),
        hearing('welcoming', WELCOMES, { intents: ['GuildMembers'] }),
        hearing('hopeful', WELCOMES, { optionalIntents: ['GuildMembers'] }),
        hearing('private', 'messageCreate', { intents: ['DirectMessages'] }),
        hearing('early', 'clientReady', {}),
      ],
      printErrors: false,
    });
    const warned = (await readLogs(host)).filter(({ message }) => message.includes('may hear nothing'));
    expect(warned).to.have.length(1);
    expect(warned[0]?.message).to.match(/^deaf .*intents: \['Guilds', 'GuildMembers'\]/);
  });

  it('is warned of in the log when the plugin is loaded, and permissions that the bot lacks are in plugin info', async () => {
    const deaf = definePlugin({
      manifest: {
        id: 'deaf',
        version: '1.0.0',
        description: 'Hears nothing',
        permissions: ['BanMembers', 'SendMessages'],
      },
      setup: ({ on }) => void on(WELCOMES, () => undefined),
    });
    await using host = await createTestHost({
      plugins: ['admin', deaf],
      permissions: ['ViewChannel', 'SendMessages'],
      logFiles: true,
    });
    host.you.say(host.general, '!plugin info deaf');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.match(/Missing here: Ban Members$/m);
    const warnings = (await readLogs(host)).filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(warnings.join('\n'))
      .to.match(/deaf may hear nothing: it listens to guildMemberAdd/)
      .and.match(/lacks permissions in .*Ban Members \(for deaf\)/);
  });
});
