import { definePlugin, z } from '@cinnabar/sdk';

/** A responder without a model: it repeats the message, and counts the member's messages. `!ai use echo` activates it. */
export default definePlugin({
  manifest: { id: 'echo', version: '0.1.0', description: 'A mind that answers with what it heard' },
  settings: {
    channel: z.object({ backwards: z.boolean().default(false).describe('Whether it answers backwards') }),
  },
  collections: { heard: { scope: 'user', version: 1, schema: z.object({ count: z.number().default(0) }) } },
  setup({ responder, settings, collections }) {
    responder({
      name: 'echo',
      description: 'Says what it heard',
      async respond(turn) {
        const { backwards } = await settings.channel(turn.channel).get();
        const { count } = await collections.heard.of(turn.user).update((draft) => {
          draft.count += 1;
        });
        const heard = backwards ? [...turn.text].reverse().join('') : turn.text;
        await turn.reply(`${count}: ${heard}`);
      },
    });
  },
});
