import { definePlugin, z } from '@cinnabar/sdk';

/** What members see of state that is kept, of answers that need none, and of effects. */
export default definePlugin({
  manifest: {
    id: 'tally',
    version: '1.0.0',
    description: 'Counts, repeats, and marks messages',
    intents: ['Guilds', 'GuildMessages', 'MessageContent'],
  },
  collections: { tallies: { scope: 'guild', version: 1, schema: z.object({ n: z.number().default(0) }) } },
  setup({ command, on, collections }) {
    command({
      name: 'tally',
      description: 'Counts one more, and says how many there are',
      async run({ guild, reply }) {
        if (guild === null) return;
        const { n } = await collections.tallies.of(guild).update((draft) => {
          draft.n += 1;
        });
        await reply(`tally ${n}`);
      },
    });
    command({ name: 'repeat', description: 'Answers', run: async ({ reply }) => void (await reply('repeated')) });
    on('messageCreate', async (message) => {
      if (message.content.startsWith('mark ')) await message.reply('marked');
    });
  },
});
