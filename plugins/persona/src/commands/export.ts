import { subcommand, z } from '@cinnabar/sdk';
import { writeCard } from '../cards/write.js';
import { type CommandParts, placeOf, SHAPE } from './parts.js';
import { nameIn } from './show.js';

export const exportCommand = (parts: CommandParts) =>
  subcommand({
    name: 'export',
    description: 'Get the persona as a character card',
    help: 'Its memories and conversations stay here.',
    access: SHAPE,
    ephemeral: true,
    options: { version: z.enum(['v2', 'v3']).default('v3').describe('Which format') },
    async run(ctx, { version }) {
      const { state } = await parts.store.read(placeOf(ctx));
      const name = nameIn(ctx, state.name);
      const json = writeCard(state, name, await parts.cards.rest(placeOf(ctx)), version);
      const file = `${
        name
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, '-')
          .replace(/^-+|-+$/g, '') || 'persona'
      }.${version}.json`;
      await ctx.reply({ content: 'Here is its card:', files: [{ attachment: Buffer.from(json), name: file }] });
    },
  });
