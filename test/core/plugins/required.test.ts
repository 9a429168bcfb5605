import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, Plugins } from '@cinnabar/sdk';
import { expect } from 'chai';

function keeper(required: boolean) {
  return definePlugin({
    manifest: {
      id: 'keeper',
      version: '1.0.0',
      description: 'Keeps the keys',
      required,
      intents: ['GuildMessages', 'MessageContent'],
    },
    setup({ command }) {
      command({ name: 'keys', description: 'Show the keys', run: (ctx) => ctx.reply('Here they are.') });
    },
  });
}

describe('A required plugin', () => {
  it('is on where it was switched off before it became required', async () => {
    await using before = await createTestHost({ plugins: [keeper(false)] });
    await before.resolve(Plugins).disable(before.guild.id, 'keeper');
    await before.stop();

    await using host = await createTestHost({ plugins: [keeper(true)], world: before, dataDir: before.dataDir });
    host.alice.say(host.general, '!keys');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.equal('Here they are.');
  });
});
