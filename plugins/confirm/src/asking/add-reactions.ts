import { retryDiscord } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import { isGone } from '../discord/errors.js';
import { NO_PINGS } from '../discord/say.js';
import type { WaitingCard } from '../waiting/card.js';
import type { AskingParts } from './ask.js';
import { APPROVE, REFUSE } from './controls.js';

/**
 * Adds 👍, then 👎. Where Discord refuses although the permissions are there, the card gets buttons instead and says so. The card waits for a
 * decision in any case: the member can react by themselves. Never rejects.
 */
export async function addReactions(
  { board, records, outbox, clock, signal, log }: AskingParts,
  card: WaitingCard,
  channel: SendableChannels,
): Promise<void> {
  try {
    for (const emoji of [APPROVE, REFUSE])
      await retryDiscord(clock, () => channel.messages.react(card.messageId, emoji), { signal });
  } catch (error) {
    log.warn('reactions could not be added to a card', { callId: card.callId, error });
    // What became of it may be waiting to be shown, and must not be replaced.
    if (!board.has(card)) return;
    await outbox.put(card.callId, offerButtons);
  }

  async function offerButtons(): Promise<void> {
    // Decided, timed out or deleted while they were being added: then nobody needs them any more.
    if (!board.has(card)) return;
    card.state = { ...card.state, reactionsRefused: true };
    const { content, components } = card.draw(card.state);
    await records.change(card.callId, { content });
    try {
      const shown = channel.messages.edit(card.messageId, { content, components, allowedMentions: NO_PINGS });
      card.drawn = shown.catch(() => undefined);
      await shown;
    } catch (error) {
      if (!isGone(error)) throw error;
      log.warn('a card could not be given buttons', { callId: card.callId, error });
    }
  }
}
