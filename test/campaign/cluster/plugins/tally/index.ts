import { definePlugin, z } from '@cinnabar/sdk';

/** Commands that show stored state, settings, answers without either, and effects. */
export default definePlugin({
  manifest: {
    id: 'tally',
    version: '1.0.0',
    description: 'Counts, repeats, and marks messages',
    intents: ['Guilds', 'GuildMessages', 'MessageContent'],
  },
  settings: { guild: z.object({ word: z.string().default('none').describe('What it says when it is asked') }) },
  collections: { tallies: { scope: 'guild', version: 1, schema: z.object({ n: z.number().default(0) }) } },
  setup({ command, on, collections, settings }) {
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
    command({
      name: 'word',
      description: 'Says the word of the server',
      async run({ guild, reply }) {
        if (guild === null) return;
        const { word } = await settings.guild(guild).get();
        await reply(`word ${word}`);
      },
    });
    command({ name: 'repeat', description: 'Answers', run: async ({ reply }) => void (await reply('repeated')) });
    on('messageCreate', async (message) => {
      if (message.content.startsWith('mark ')) await message.reply('marked');
    });
  },
});
