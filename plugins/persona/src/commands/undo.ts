import { subcommand } from '@cinnabar/sdk';
import { type CommandParts, placeOf, SHAPE } from './parts.js';
import { shown } from './show-text.js';

export const undoCommand = (parts: CommandParts) =>
  subcommand({
    name: 'undo',
    description: 'Take back the latest change of the persona',
    help: 'What it changed in the course of one answer is taken back together, with the memories that it added or put out of mind. Can be repeated.',
    access: SHAPE,
    async run(ctx) {
      const undone = await parts.store.undo(placeOf(ctx));
      if (undone === undefined) await ctx.reply('There is nothing to undo.');
      else if (undone.length === 0) await ctx.reply('Taken back.');
      else await ctx.reply(['Taken back:', ...undone.map((what) => `• ${shown(what, 150)}`)].join('\n'));
    },
  });
