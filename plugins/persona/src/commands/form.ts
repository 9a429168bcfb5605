import type { ComponentHandle, ComponentInteraction, PersonaPlace, Registrar } from '@cinnabar/sdk';
import {
  ActionRowBuilder,
  MessageFlags,
  ModalBuilder,
  type ModalSubmitInteraction,
  TextInputBuilder,
  TextInputStyle,
} from 'discord.js';
import type { State } from '../state/schema.js';
import { FIELD_LIMITS, FIELDS, type Field, fieldOf, setField } from './edit.js';
import { type CommandParts, SHAPE } from './parts.js';
import { shown } from './show-text.js';

/** Discord's limit for one field of a modal. */
const MOST_CHARACTERS = 4_000;

/** The button that opens the form, and the form. */
export function registerForm({ component }: Pick<Registrar, 'component'>, parts: CommandParts): ComponentHandle {
  const modal = component({
    name: 'edit',
    access: SHAPE,
    run: (interaction) => (interaction.isModalSubmit() ? takeIn(interaction, parts) : undefined),
  });
  return component({
    name: 'open-form',
    access: SHAPE,
    async run(interaction) {
      if (interaction.isModalSubmit()) return;
      const { state } = await parts.store.read(placeOf(interaction));
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

async function takeIn(interaction: ModalSubmitInteraction, { store, random }: CommandParts): Promise<void> {
  const place = placeOf(interaction);
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

function placeOf({ guildId, channelId }: ComponentInteraction): PersonaPlace {
  return { guildId, channelId: channelId ?? '' };
}
