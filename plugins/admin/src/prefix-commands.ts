import { subcommand, z } from '@cinnabar/sdk';
import type { AdminContext } from './context.js';
import { codes, guildOf } from './format.js';

const CHANGE = { tier: 'admin', where: 'guild' } as const;

/** `!prefix …`: the prefixes of commands in this guild. */
export function registerPrefixCommands({ group, services: { prefixes } }: AdminContext): void {
  const prefix = z.string().min(1).max(16).describe('The prefix; quote it if it ends with a space');
  group({
    name: 'prefix',
    description: 'See and change what commands start with',
    commands: [
      subcommand({
        name: 'show',
        description: 'Show the prefixes of this server',
        run: (ctx) => ctx.reply(shown(prefixes.get(ctx.actor.guildId))),
      }),
      subcommand({
        name: 'add',
        description: 'Add a prefix',
        access: CHANGE,
        options: { prefix },
        run: async (ctx, options) => ctx.reply(shown(await prefixes.add(guildOf(ctx.actor), options.prefix))),
      }),
      subcommand({
        name: 'remove',
        description: 'Remove a prefix',
        access: CHANGE,
        options: { prefix },
        run: async (ctx, options) => ctx.reply(shown(await prefixes.remove(guildOf(ctx.actor), options.prefix))),
      }),
      subcommand({
        name: 'reset',
        description: 'Go back to the default prefixes',
        access: CHANGE,
        run: async (ctx) => ctx.reply(shown(await prefixes.reset(guildOf(ctx.actor)))),
      }),
    ],
  });
}

function shown(prefixes: readonly string[]): string {
  if (prefixes.length === 0) return 'There is no prefix here: start commands with a mention of me.';
  return `Commands start with ${codes(prefixes)} here, or with a mention of me.`;
}
