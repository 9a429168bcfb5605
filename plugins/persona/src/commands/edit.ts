import { type ComponentHandle, option, sanitizeName, subcommand, UserError, z } from '@cinnabar/sdk';
import { ButtonStyle, ComponentType } from 'discord.js';
import { tidy } from '../actions/text.js';
import { LIMITS, type State } from '../state/schema.js';
import { authorOf, type CommandParts, placeOf, SHAPE } from './parts.js';
import { shown } from './show-text.js';

export const FIELDS = ['name', 'description', 'appearance', 'environment', 'personality'] as const;
export type Field = (typeof FIELDS)[number];

export const FIELD_LIMITS: Readonly<Record<Field, number>> = {
  name: LIMITS.name,
  description: LIMITS.description,
  appearance: LIMITS.short,
  environment: LIMITS.short,
  personality: LIMITS.profile,
};

export function fieldOf(state: State, field: Field): string {
  return field === 'personality' ? state.profile.personality : state[field];
}

/** @throws UserError for a name with nothing readable in it */
export function setField(state: State, field: Field, text: string): void {
  const value = field === 'name' ? sanitizeName(text) : tidy(text, FIELD_LIMITS[field]);
  if (field === 'name' && value === '') throw new UserError('That name has nothing readable in it.');
  if (field === 'personality') state.profile.personality = value;
  else state[field] = value;
}

export const editCommand = (parts: CommandParts, form: ComponentHandle) =>
  subcommand({
    name: 'edit',
    description: 'Change who the persona is: one thing at once, or in a form',
    access: SHAPE,
    ephemeral: true,
    options: {
      field: z.enum(FIELDS).optional().describe('What to change; without it you get a form'),
      text: option.rest().optional().describe('What it should be'),
    },
    examples: ['persona edit', 'persona edit appearance Green hair, and a jacket full of patches.'],
    async run(ctx, { field, text }) {
      if (field === undefined) {
        const button = {
          type: ComponentType.Button,
          style: ButtonStyle.Primary,
          label: 'Open the form',
          custom_id: form.customId(),
        } as const;
        await ctx.reply({
          content: 'Here is the form:',
          components: [{ type: ComponentType.ActionRow, components: [button] }],
        });
        return;
      }
      if (text === undefined) throw new UserError(`What should its ${field} be? Write that after the word.`);
      const author = authorOf(ctx, parts);
      const { state } = await parts.store.change(placeOf(ctx), author, `${field}: ${text}`, (draft) =>
        setField(draft, field, text),
      );
      await ctx.reply(`Its ${field} is now: ${shown(fieldOf(state, field))}`);
    },
  });
