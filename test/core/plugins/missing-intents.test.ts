import { missingIntent } from '@cinnabar/core/internal/gateway/discord-sync';
import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { readLogs } from '../../support/log-files.js';

describe('a listener whose event Discord would not send', () => {
  const WELCOMES = 'guildMemberAdd';

  it('is told of with the line to add to the manifest', () => {
    expect(missingIntent(WELCOMES, { intents: ['Guilds'] })).to.include("intents: ['Guilds', 'GuildMembers']");
    expect(missingIntent(WELCOMES, { intents: ['GuildMembers'] })).to.equal(undefined);
    expect(missingIntent(WELCOMES, { optionalIntents: ['GuildMembers'] })).to.equal(undefined);
    expect(missingIntent('messageCreate', { intents: ['DirectMessages'] })).to.equal(undefined);
    expect(missingIntent('clientReady', {})).to.equal(undefined);
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
    await using host = await createTestHost({ plugins: ['admin', deaf], permissions: ['ViewChannel', 'SendMessages'] });
    host.you.say(host.general, '!plugin info deaf');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.match(/Missing here: Ban Members$/m);
    const warnings = (await readLogs(host)).filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(warnings.join('\n'))
      .to.match(/deaf may hear nothing: it listens to guildMemberAdd/)
      .and.match(/lacks permissions in .*Ban Members \(for deaf\)/);
  });
});
