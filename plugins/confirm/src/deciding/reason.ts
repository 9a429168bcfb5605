import type { ComponentInteraction } from '@cinnabar/sdk';
import type { APIModalInteractionResponseCallbackData } from 'discord.js';
import { type ButtonParts, decideBy } from './buttons.js';
import { openCard } from './open-card.js';

const FIELD = 'reason';
const LONGEST_REASON = 300;

/** Asks why: the model is told. 4 is a text input, 2 a paragraph. */
export function reasonModal(customId: string): APIModalInteractionResponseCallbackData {
  const field = { type: 4, custom_id: FIELD, label: 'Why not? The model is told.', style: 2 } as const;
  return {
    custom_id: customId,
    title: 'Deny with a reason',
    components: [{ type: 1, components: [{ ...field, required: true, min_length: 1, max_length: LONGEST_REASON }] }],
  };
}

/** The reason has been written: the call is denied, unless it was decided meanwhile. */
export function onReason(parts: ButtonParts) {
  return async function submit(interaction: ComponentInteraction): Promise<void> {
    if (!interaction.isModalSubmit() || !interaction.isFromMessage()) return;
    const open = await openCard(parts, interaction, interaction.message.id);
    if (open === undefined) return;
    const reason = interaction.fields.getTextInputValue(FIELD).trim().slice(0, LONGEST_REASON);
    await decideBy(interaction, open.card, { approved: false, ...(reason === '' ? {} : { reason }) }, parts);
  };
}
