import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';

const greeter = definePlugin({
  manifest: {
    id: 'greeter',
    version: '1.0.0',
    description: 'Greets',
    intents: ['GuildMessages', 'MessageContent'],
  },
  setup({ command }) {
    command({
      name: 'greet',
      description: 'Greet',
      async run(ctx) {
        await ctx.reply('Hello.');
        await ctx.reply('And good day.');
      },
    });
  },
});

describe('The answer to a prefix command', () => {
  it('is posted once although Discord fails after it has posted it', async () => {
    await using host = await createTestHost({ plugins: [greeter] });
    const messages = { method: 'POST', route: '/channels/:channelId/messages' };
    host.discord.faults.rest.fail(502, { ...messages, afterEffect: true });
    host.alice.say(host.general, '!greet');
    await host.settled();
    const answers = host.general.messages.filter(({ author }) => author.bot).map(({ content }) => content);
    expect(answers).to.deep.equal(['Hello.', 'And good day.']);
  });
});
