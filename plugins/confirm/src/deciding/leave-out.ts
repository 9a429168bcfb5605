import type { ComponentInteraction } from '@cinnabar/sdk';
import { NO_PINGS } from '../discord/say.js';
import type { Records } from '../waiting/records.js';
import { type OpenCardParts, openCard } from './open-card.js';

/** The member has chosen in the menu of a card which of its calls are left out: the card shows that, and 👍 runs the others. */
export function onLeaveOut(parts: OpenCardParts & { readonly records: Records }) {
  return async function leaveOut(interaction: ComponentInteraction): Promise<void> {
    if (!interaction.isStringSelectMenu()) return;
    const open = await openCard(parts, interaction, interaction.message.id);
    if (open === undefined) return;
    const { card } = open;
    card.state = { ...card.state, excluded: new Set(interaction.values) };
    const { content, components } = card.draw(card.state);
    await parts.records.change(card.callId, { content });
    // Decided meanwhile: the card shows that instead.
    if (!parts.board.has(card)) {
      await interaction.deferUpdate();
      return;
    }
    const shown = interaction.update({ content, components, allowedMentions: NO_PINGS });
    card.drawn = shown.catch(() => undefined);
    await shown;
  };
}
