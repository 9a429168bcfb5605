import type { ComponentInteraction } from '@cinnabar/sdk';
import type { Deliveries } from '../asking/deliveries.js';
import type { Board } from '../waiting/board.js';
import type { Request, WaitingCard } from '../waiting/card.js';
import type { Expiry } from '../waiting/expiry.js';

export interface OpenCardParts {
  readonly board: Board;
  readonly deliveries: Deliveries;
  readonly expiry: Expiry;
}

/** The card that somebody may decide now. Otherwise they are told why not, and nothing is returned. */
export async function openCard(
  { board, deliveries, expiry }: OpenCardParts,
  interaction: ComponentInteraction,
  messageId: string,
): Promise<{ readonly card: WaitingCard; readonly request: Request } | undefined> {
  await deliveries.settled(interaction.user.id);
  const card = board.on(messageId);
  if (card === undefined) {
    await whisper(interaction, 'This request is not open any more.');
    return undefined;
  }
  if (card.userId !== interaction.user.id) {
    await whisper(interaction, 'Only the member who asked for this can decide it.');
    return undefined;
  }
  if (expiry.isOverdue(card)) {
    await whisper(interaction, 'This request has timed out.');
    await expiry.expire(card, 'timedOut');
    return undefined;
  }
  return { card, request: card.request };
}

export async function whisper(interaction: ComponentInteraction, content: string): Promise<void> {
  await interaction.reply({ content, flags: 'Ephemeral' });
}
