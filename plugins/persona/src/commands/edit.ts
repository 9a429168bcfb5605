import {
  type ComponentHandle,
  type ComponentInteraction,
  option,
  type PersonaPlace,
  type Registrar,
  sanitizeName,
  subcommand,
  UserError,
  z,
} from '@cinnabar/sdk';
import {
  ActionRowBuilder,
  ButtonStyle,
  ComponentType,
  MessageFlags,
  ModalBuilder,
  type ModalSubmitInteraction,
  TextInputBuilder,
  TextInputStyle,
} from 'discord.js';
import type { PersonaContext } from '../context.js';
import { LIMITS, NEW_STATE, type State, tidy } from '../state/schema.js';
import { authorOf, placeOf, SHAPE, shown } from './command-context.js';

export const createCommand = (persona: PersonaContext) =>
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
      const stored = await persona.store.change(placeOf(ctx), authorOf(ctx, persona), `created ${plain}`, (state) => {
        Object.assign(state, structuredClone(NEW_STATE), {
          name: plain,
          description: tidy(description, LIMITS.description),
        });
      });
      await ctx.reply(`**${shown(stored.state.name)}** is here now. \`${ctx.prefix}ai use persona\` lets it answer.`);
    },
  });

const FIELDS = ['name', 'description', 'appearance', 'environment', 'personality'] as const;
type Field = (typeof FIELDS)[number];

const FIELD_LIMITS: Readonly<Record<Field, number>> = {
  name: LIMITS.name,
  description: LIMITS.description,
  appearance: LIMITS.short,
  environment: LIMITS.short,
  personality: LIMITS.profile,
};

function fieldOf(state: State, field: Field): string {
  return field === 'personality' ? state.profile.personality : state[field];
}

/** @throws UserError for a name with nothing readable in it */
function setField(state: State, field: Field, text: string): void {
  const value = field === 'name' ? sanitizeName(text) : tidy(text, FIELD_LIMITS[field]);
  if (field === 'name' && value === '') throw new UserError('That name has nothing readable in it.');
  if (field === 'personality') state.profile.personality = value;
  else state[field] = value;
}

export const editCommand = (persona: PersonaContext, form: ComponentHandle) =>
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
      const author = authorOf(ctx, persona);
      const { state } = await persona.store.change(placeOf(ctx), author, `${field}: ${text}`, (draft) =>
        setField(draft, field, text),
      );
      await ctx.reply(`Its ${field} is now: ${shown(fieldOf(state, field))}`);
    },
  });

/** Discord's limit for one field of a modal. */
const MOST_CHARACTERS = 4_000;

/** The button that opens the form, and the form. */
export function registerForm({ component }: Pick<Registrar, 'component'>, persona: PersonaContext): ComponentHandle {
  const modal = component({
    name: 'edit',
    access: SHAPE,
    run: (interaction) => (interaction.isModalSubmit() ? takeIn(interaction, persona) : undefined),
  });
  return component({
    name: 'open-form',
    access: SHAPE,
    async run(interaction) {
      if (interaction.isModalSubmit()) return;
      const { state } = await persona.store.read(placeOfInteraction(interaction));
      await interaction.showModal(formFor(state, modal.customId()));
    },
  });
}

function formFor(state: State, customId: string): ModalBuilder {
  return new ModalBuilder()
    .setCustomId(customId)
    .setTitle('Who the persona is')
    .addComponents(
      editable(state).map((field) => new ActionRowBuilder<TextInputBuilder>().addComponents(inputFor(state, field))),
    );
}

/** What is longer than a form can show would be cut by it. */
function editable(state: State): readonly Field[] {
  return FIELDS.filter((field) => fieldOf(state, field).length <= MOST_CHARACTERS);
}

function inputFor(state: State, field: Field): TextInputBuilder {
  const input = new TextInputBuilder()
    .setCustomId(field)
    .setLabel(`${field.charAt(0).toUpperCase()}${field.slice(1)}`)
    .setStyle(field === 'name' ? TextInputStyle.Short : TextInputStyle.Paragraph)
    .setMaxLength(Math.min(FIELD_LIMITS[field], MOST_CHARACTERS))
    .setRequired(field === 'name');
  const value = fieldOf(state, field);
  return value === '' ? input : input.setValue(value);
}

async function takeIn(interaction: ModalSubmitInteraction, { store, random }: PersonaContext): Promise<void> {
  const place = placeOfInteraction(interaction);
  const { state } = await store.read(place);
  const given = editable(state).flatMap((field) => {
    const text = interaction.fields.fields.has(field)
      ? interaction.fields.getTextInputValue(field)
      : fieldOf(state, field);
    return text === fieldOf(state, field) ? [] : [{ field, text }];
  });
  const author = { sessionId: random.id(), userId: interaction.user.id, channelId: null };
  const { state: changed } = await store.change(
    place,
    author,
    `edited: ${given.map(({ field }) => field).join(', ')}`,
    (draft) => {
      for (const { field, text } of given) setField(draft, field, text);
    },
  );
  const content = given.length === 0 ? 'Nothing has changed.' : `**${shown(changed.name)}** is up to date.`;
  await interaction.reply({ content, flags: MessageFlags.Ephemeral });
}

function placeOfInteraction({ guildId, channelId }: ComponentInteraction): PersonaPlace {
  return { guildId, channelId: channelId ?? '' };
}
