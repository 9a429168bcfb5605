import { option, sanitizeName, subcommand, UserError, z } from '@cinnabar/sdk';
import { tidy } from '../actions/text.js';
import { LIMITS, NEW_STATE } from '../state/schema.js';
import { authorOf, type CommandParts, placeOf, SHAPE } from './parts.js';
import { shown } from './show-text.js';

export const createCommand = (parts: CommandParts) =>
  subcommand({
    name: 'create',
    description: 'Make a new persona here: its name, and who it is',
    help: 'Takes the place of the one that is here; `persona undo` brings that back. Memories and conversations stay: `persona reset` clears those.',
    access: SHAPE,
    options: {
      name: z.string().min(1).max(LIMITS.name).describe('What it is called'),
      description: option.rest().describe('Who it is, in a few sentences'),
    },
    examples: ['persona create Judy A braindance technician who trusts few people and loves bad puns.'],
    async run(ctx, { name, description }) {
      const plain = sanitizeName(name);
      if (plain === '') throw new UserError('That name has nothing readable in it.');
      const stored = await parts.store.change(placeOf(ctx), authorOf(ctx, parts), `created ${plain}`, (state) => {
        Object.assign(state, structuredClone(NEW_STATE), {
          name: plain,
          description: tidy(description, LIMITS.description),
        });
      });
      await ctx.reply(`**${shown(stored.state.name)}** is here now. \`${ctx.prefix}ai use persona\` lets it answer.`);
    },
  });
