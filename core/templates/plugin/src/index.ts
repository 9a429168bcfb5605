import { definePlugin, option, z } from '@cinnabar/sdk';

export default definePlugin({
  manifest: { id: 'my-plugin', version: '0.1.0', description: 'Greets people', host: '^0.0.0' },
  settings: {
    guild: z.object({
      greeting: z.string().min(1).max(100).default('Hello').describe('The word that people are greeted with'),
    }),
  },
  setup({ command, settings }) {
    command({
      name: 'my-plugin',
      description: 'Greets someone',
      options: { name: option.rest().describe('Whom to greet') },
      examples: ['my-plugin world'],
      async run(context, { name }) {
        const { greeting } = await settings.guild(context.actor.guildId).get();
        return context.reply(`${greeting}, ${name}!`);
      },
    });
  },
});
