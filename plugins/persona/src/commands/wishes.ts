import { option, subcommand, UserError, z } from '@cinnabar/sdk';
import { tidy } from '../actions/text.js';
import { addItem, removeItem, toldIn } from '../state/items.js';
import { LIMITS } from '../state/schema.js';
import { assertMayShape, authorOf, type CommandParts, placeOf } from './parts.js';
import { listed } from './show-text.js';

interface Wishes {
  readonly key: 'goals' | 'desires';
  readonly one: 'goal' | 'desire';
  readonly title: string;
  readonly description: string;
  readonly example: string;
}

export const goalsCommand = (parts: CommandParts) =>
  wishesCommand(parts, {
    key: 'goals',
    one: 'goal',
    title: 'Goals',
    description: 'Show what the persona wants to achieve; add or remove a goal (admins)',
    example: 'Learn everybody’s birthday',
  });

export const desiresCommand = (parts: CommandParts) =>
  wishesCommand(parts, {
    key: 'desires',
    one: 'desire',
    title: 'Desires',
    description: 'Show what the persona wants here and now; add or remove a desire (admins)',
    example: 'Hear a good story',
  });

function wishesCommand(parts: CommandParts, { key, one, title, description, example }: Wishes) {
  return subcommand({
    name: key,
    description,
    options: {
      change: z.enum(['list', 'add', 'remove']).default('list').describe('What to do'),
      text: option.rest().optional().describe(`The ${one}; to remove one, its number is enough`),
    },
    examples: [`persona ${key}`, `persona ${key} add ${example}`, `persona ${key} remove 1`],
    async run(ctx, { change, text: given = '' }) {
      if (change !== 'list') {
        await assertMayShape(ctx, parts);
        const text = tidy(given, LIMITS.short);
        if (text === '') throw new UserError(`Which ${one}? Write it after the word.`);
        await parts.store.change(placeOf(ctx), authorOf(ctx, parts), `${change} ${one}: ${text}`, (state, at) => {
          if (change === 'add') addItem(state[key], { text, userId: ctx.actor.userId, at }, one);
          else removeItem(state[key], text, at, one);
        });
      }
      const { state } = await parts.store.read(placeOf(ctx));
      const texts = toldIn(state[key], parts.store.toldAt(placeOf(ctx))).map(({ text }) => text);
      const lines = listed(title, texts);
      await ctx.reply(lines.length === 0 ? `It has no ${key}.` : lines.join('\n'));
    },
  });
}
