import { subcommand, UserError, z } from '@cinnabar/sdk';
import { tidy } from '../actions/text.js';
import { LIMITS } from '../state/schema.js';
import { assertMayShape, authorOf, type CommandParts, placeOf } from './parts.js';
import { shown } from './show-text.js';

export const moodCommand = (parts: CommandParts) =>
  subcommand({
    name: 'mood',
    description: 'Show the mood of the persona, or set it (admins)',
    options: {
      mood: z.string().min(1).max(LIMITS.mood).optional().describe('The mood in a word or two'),
      intensity: z.number().min(0).max(10).default(5).describe('How strongly, 0 to 10'),
    },
    examples: ['persona mood', 'persona mood cheerful 7'],
    async run(ctx, { mood, intensity }) {
      if (mood !== undefined) {
        await assertMayShape(ctx, parts);
        const name = tidy(mood, LIMITS.mood);
        if (name === '') throw new UserError('That mood has nothing readable in it.');
        await parts.store.change(placeOf(ctx), authorOf(ctx, parts), `mood: ${name} (${intensity})`, (state) => {
          state.mood = { name, intensity };
        });
      }
      const { state } = await parts.store.read(placeOf(ctx));
      await ctx.reply(`Mood: ${shown(state.mood.name)} (${state.mood.intensity} of 10)`);
    },
  });
