import { definePlugin } from '@cinnabar/sdk';

/** The commands that each bot of the bench has. */
export default definePlugin({
  manifest: { id: 'bench', version: '1.0.0', description: 'A command that does nothing, and one that replies' },
  setup({ command }) {
    command({ name: 'noop', description: 'Does nothing', run: () => undefined });
    command({ name: 'pong', description: 'Replies', run: async (context) => void (await context.reply('pong')) });
  },
});
