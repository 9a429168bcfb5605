import { drawCard } from '../card/draw.js';
import { NO_PINGS } from '../discord/say.js';
import type { WaitingCard } from '../waiting/card.js';
import type { AskingParts } from './ask.js';
import { APPROVE, REACTIONS_REFUSED, REFUSE } from './controls.js';
import type { Delivery } from './deliver.js';

/** Adds 👍, then 👎. Where Discord refuses although the permissions are there, the card gets buttons instead and says so. */
export async function addReactions(
  { board, records, buttons, log }: Pick<AskingParts, 'board' | 'records' | 'buttons' | 'log'>,
  card: WaitingCard,
  { call, rules, channel, controls }: Delivery,
): Promise<void> {
  try {
    await channel.messages.react(card.messageId, APPROVE);
    await channel.messages.react(card.messageId, REFUSE);
  } catch (error) {
    // Decided, timed out or deleted while they were being added: then nobody needs them any more.
    if (!board.has(card)) return;
    log.warn('reactions could not be added to a card', { callId: card.callId, error });
    const { content } = drawCard(rules.style, call.card, call.input, [...controls.notes, REACTIONS_REFUSED]);
    card.hasButtons = true;
    card.content = content;
    await records.change(card.callId, { content });
    await channel.messages.edit(card.messageId, {
      content,
      components: [controls.row(buttons)],
      allowedMentions: NO_PINGS,
    });
  }
}
