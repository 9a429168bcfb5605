import { definePlugin, plainText, UserError, z } from '@cinnabar/sdk';

const MOST = 100;

/** Notes of a server, as an example of a tool that changes something and therefore needs the member's confirmation. */
export default definePlugin({
  manifest: { id: 'notes', version: '0.1.0', description: 'Keeps notes of a server' },
  collections: { notes: { scope: 'guild', version: 1, schema: z.object({ list: z.array(z.string()).default([]) }) } },
  setup({ tool, collections }) {
    tool({
      name: 'add_note',
      description: 'Add a note to the notes of this server.',
      input: z.object({ note: z.string().min(1).max(500).describe('What to note') }),
      risk: 'write',
      access: { where: 'guild' },
      examples: ['note that {note}', 'make a note: {note}'],
      async run({ note }, { actor }) {
        const { list } = await collections.notes.of(actor.guildId ?? '').update((draft) => {
          if (draft.list.length >= MOST) throw new UserError(`There are ${MOST} notes already.`);
          draft.list.push(note);
        });
        return list.length;
      },
      present: {
        sentence: ({ note }) => `I'll note: ${note}`,
        said: ['note'],
        action: 'Add note',
        success: ({ note }, count) => `✓ Note ${count}: ${plainText(note)}`,
        cancelled: () => 'Nothing was noted.',
      },
    });
  },
});
