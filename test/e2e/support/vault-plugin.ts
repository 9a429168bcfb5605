import { definePlugin, z } from '@cinnabar/sdk';

/** Tools for moderators and for everyone, and a record of their effects. */
export function createVault() {
  const done: string[] = [];
  const plugin = definePlugin({
    manifest: { id: 'vault', version: '1.0.0', description: 'A vault and a board' },
    setup({ tool }) {
      tool({
        name: 'open_vault',
        description: 'Opens the vault.',
        input: z.object({}),
        risk: 'destructive',
        access: { tier: 'mod' },
        run: () => void done.push('opened'),
      });
      tool({
        name: 'write_board',
        description: 'Writes on the board.',
        input: z.object({ text: z.string() }),
        risk: 'write',
        present: { success: ({ text }) => `On the board: ${text}` },
        run: ({ text }) => void done.push(text),
      });
    },
  });
  return { plugin, done };
}
