import type { TestHost } from '@cinnabar/core/testing';
import { definePlugin, type Plugin, ToolPolicies, UserError, z } from '@cinnabar/sdk';

/** A plugin with tools for tests, and a record of their calls. */
export interface Shelf {
  readonly plugin: Plugin;
  readonly taken: readonly string[];
}

export function createShelf(): Shelf {
  const taken: string[] = [];
  const plugin = definePlugin({
    manifest: { id: 'shelf', version: '1.0.0', description: 'A shelf with things on it' },
    setup({ tool }) {
      tool({
        name: 'look',
        description: 'Look at a shelf',
        input: z.object({ shelf: z.string() }),
        risk: 'read',
        examples: ['look at {shelf}'],
        run({ shelf }) {
          if (shelf === 'hidden') throw new UserError('There is no such shelf.');
          return `On ${shelf}: a book`;
        },
      });
      tool({
        name: 'take',
        description: 'Take a thing',
        input: z.object({ thing: z.string() }),
        risk: 'write',
        present: { success: ({ thing }) => `${thing} taken`, cancelled: ({ thing }) => `Left ${thing} there.` },
        run: ({ thing }) => taken.push(thing),
      });
      tool({
        name: 'close_library',
        description: 'Close the library',
        input: z.object({}),
        risk: 'destructive',
        access: { tier: 'admin' },
        run: () => 'closed',
      });
    },
  });
  return { plugin, taken };
}

/** Allows `look` without a confirmation. */
export async function letLook(host: TestHost): Promise<void> {
  await host.resolve(ToolPolicies).set(host.guild.id, 'look', 'allow');
}

/** Reacts to the latest card as alice. */
export async function decide(host: TestHost, emoji: '👍' | '👎'): Promise<void> {
  const card = host.general.messages.findLast(({ reactions }) => reactions.length > 0);
  if (card === undefined) throw new Error('There is no card.');
  host.alice.react(card, emoji);
  await host.settled();
}
