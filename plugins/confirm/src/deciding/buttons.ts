import type { ComponentInteraction, Logger } from '@cinnabar/sdk';
import type { Deliveries } from '../asking/deliveries.js';
import type { Board } from '../waiting/board.js';
import { type Expiry, REASONS } from '../waiting/expiry.js';
import type { Decide } from './decide.js';

interface Parts {
  readonly board: Board;
  readonly deliveries: Deliveries;
  readonly expiry: Expiry;
  readonly decide: Decide;
  readonly log: Logger;
}

/** The same rules as for reactions; but Discord wants every click answered, so the others are told why nothing happens. */
export function onButton({ board, deliveries, expiry, decide, log }: Parts) {
  return async function click(interaction: ComponentInteraction, [choice]: readonly string[]): Promise<void> {
    if (!interaction.isButton()) return;
    await deliveries.settled(interaction.user.id);
    const card = board.on(interaction.message.id);
    if (card === undefined) return whisper(interaction, 'This request is not open any more.');
    if (card.userId !== interaction.user.id) {
      return whisper(interaction, 'Only the member who asked for this can decide it.');
    }
    // A decision counts even if its acknowledgement gets lost.
    await interaction.deferUpdate().catch((error: unknown) => {
      log.debug('a click could not be acknowledged', { callId: card.callId, error });
    });
    if (expiry.isOverdue(card)) await expiry.expire(card, REASONS.timedOut);
    else await decide(card, choice === 'approve');
  };
}

async function whisper(interaction: ComponentInteraction, content: string): Promise<void> {
  await interaction.reply({ content, flags: 'Ephemeral' });
}
