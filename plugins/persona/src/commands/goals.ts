import { option, subcommand, UserError, z } from '@cinnabar/sdk';
import { tidy } from '../actions/text.js';
import { addItem, removeItem, toldIn } from '../state/items.js';
import { LIMITS } from '../state/schema.js';
import { assertMayShape, authorOf, type CommandParts, placeOf } from './parts.js';
import { listed } from './show-text.js';

export const goalsCommand = (parts: CommandParts) =>
  subcommand({
    name: 'goals',
    description: 'Show what the persona wants to achieve; add or remove a goal (admins)',
    options: {
      change: z.enum(['list', 'add', 'remove']).default('list').describe('What to do'),
      goal: option.rest().optional().describe('The goal; to remove one, its number is enough'),
    },
    examples: ['persona goals', 'persona goals add Learn everybody’s birthday', 'persona goals remove 1'],
    async run(ctx, { change, goal }) {
      if (change !== 'list') {
        await assertMayShape(ctx, parts);
        const text = tidy(goal ?? '', LIMITS.short);
        if (text === '') throw new UserError('Which goal? Write it after the word.');
        const author = authorOf(ctx, parts);
        await parts.store.change(placeOf(ctx), author, `${change} goal: ${text}`, ({ goals }, at) => {
          if (change === 'add') addItem(goals, { text, userId: ctx.actor.userId, at }, 'goal');
          else removeItem(goals, text, at, 'goal');
        });
      }
      const { goals } = (await parts.store.read(placeOf(ctx))).state;
      const lines = listed(
        'Goals',
        toldIn(goals, parts.store.toldAt(placeOf(ctx))).map(({ text }) => text),
      );
      await ctx.reply(lines.length === 0 ? 'It has no goals.' : lines.join('\n'));
    },
  });
