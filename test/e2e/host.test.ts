import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, UserError, z } from '@cinnabar/sdk';
import { expect } from 'chai';

const greeter = definePlugin({
  manifest: { id: 'greeter', version: '1.0.0', description: 'Greets' },
  settings: { guild: z.object({ greeting: z.string().default('Hello') }) },
  collections: { visits: { scope: 'user', version: 1, schema: z.object({ count: z.number().default(0) }) } },
  setup({ command, on, settings, collections }) {
    command({
      name: 'greet',
      description: 'Greets you',
      options: { times: z.number().int().min(1).max(3).default(1) },
      async run(context, { times }) {
        if (context.guild === null) throw new UserError('In a guild only.');
        const { greeting } = await settings.guild(context.guild).get();
        const { count } = await collections.visits.of(context.user).update((draft) => {
          draft.count += times;
        });
        await context.reply(`${greeting} ${context.user.username} ${count}`);
      },
    });
    on('messageReactionAdd', (reaction) => reaction.message.reply(`saw ${reaction.emoji.name}`));
  },
});

describe('a plugin on the real host', () => {
  it('answers prefix and slash commands from one declaration, and keeps what it stores', async () => {
    await using host = await createTestHost({ plugins: [greeter] });
    host.alice.say(host.general, '!greet 2');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: 'Hello alice 2' });
    const slash = host.alice.slash(host.general, 'greet', { times: 3 });
    await host.settled();
    expect(slash.response?.content).to.equal('Hello alice 5');
  });

  it('says what is wrong with an option, and how it is used', async () => {
    await using host = await createTestHost({ plugins: [greeter] });
    host.alice.say(host.general, '!greet 9');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: /times.*3[\s\S]*greet \[times/ });
  });
});
