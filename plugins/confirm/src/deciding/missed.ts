import type { Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { channelOf } from '../discord/place.js';
import { pressedBy } from '../discord/pressed.js';
import type { Board } from '../waiting/board.js';
import type { WaitingCard } from '../waiting/card.js';
import type { Expiry } from '../waiting/expiry.js';
import type { Decide } from './decide.js';

interface Parts {
  readonly board: Board;
  readonly expiry: Expiry;
  readonly decide: Decide;
  readonly client: Client;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}

/** After a lost session: looks at every card that waits for what its requester has pressed meanwhile, and acts on it while there is time. */
export async function takeMissed({ board, expiry, decide, client, log, signal }: Parts): Promise<void> {
  for (const card of board.all()) {
    if (signal.aborted) return;
    await take(card).catch((error: unknown) => {
      log.warn('a card could not be looked at after a lost session', { callId: card.callId, error });
    });
  }

  async function take(card: WaitingCard): Promise<void> {
    const channel = await channelOf(client, card.channelId);
    const choice = channel === undefined ? undefined : await pressedBy(channel, card.messageId, card.userId);
    if (choice === undefined) return;
    if (expiry.isOverdue(card)) await expiry.expire(card, 'timedOut');
    else await decide(card, { approved: choice === 'approve' });
  }
}
