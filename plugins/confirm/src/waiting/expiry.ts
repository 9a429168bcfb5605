import type { Clock, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { timedOut, withdrawn } from '../card/timed-out.js';
import { isGone } from '../discord/errors.js';
import { channelOf } from '../discord/place.js';
import { NO_PINGS } from '../discord/say.js';
import type { Board } from './board.js';
import type { WaitingCard } from './card.js';
import type { Records } from './records.js';

export const REASONS = {
  timedOut: 'nobody confirmed it in time, so it was not run',
  deleted: 'the confirmation card was deleted, so it was not run',
  stopped: 'confirmations were stopped before this was decided, so it was not run',
  forgotten: 'the member had their data deleted, so it was not run',
  withdrawn: 'what it was part of was stopped before this was decided, so it was not run',
  crowded: 'too many requests are waiting, so the oldest was not run',
} as const;

interface Parts {
  readonly board: Board;
  readonly records: Records;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Ends cards without a decision. Nothing here runs by itself: it follows from what members do (no timers, as the design wants). */
export interface Expiry {
  isOverdue(card: WaitingCard): boolean;
  /** Ends the call, then strikes the card through. Does nothing when the card is off the board already. */
  expire(card: WaitingCard, reason: string): Promise<void>;
  /** Like `expire`, for a card whose message is gone. */
  expireGone(card: WaitingCard): Promise<void>;
  expireOverdue(userId: string): Promise<void>;
}

export function createExpiry({ board, records, client, clock, log }: Parts): Expiry {
  const isOverdue = (card: WaitingCard) => clock.now() > card.expiresAt;

  /** `false` when a decision came first, in whatever process. */
  const end = async ({ callId, request }: WaitingCard, reason: string) => {
    if (request === undefined) return true;
    try {
      return await request.call.expire(reason);
    } catch (error) {
      // Off the board nothing can run it any more, so it is over, written or not; the host tries once more to write it.
      log.error('the end of a call could not be saved', { callId, error });
      return true;
    } finally {
      // The ledger has the last word: where this was not first, what is told here is replaced by what happened.
      request.settle({ status: 'expired', callId, reason });
    }
  };

  const expire = async (card: WaitingCard, reason: string) => {
    if (!board.take(card)) return;
    if (await end(card, reason)) await strike(card, reason === REASONS.withdrawn ? withdrawn : timedOut);
    else await records.delete(card.callId);
  };

  /** The record goes only when the card shows that it is over, or never will: else the next start tries again. */
  const strike = async (
    { callId, channelId, messageId, content }: WaitingCard,
    struck: (content: string) => string,
  ) => {
    try {
      const channel = await channelOf(client, channelId);
      await channel?.messages.edit(messageId, {
        content: struck(content),
        components: [],
        allowedMentions: NO_PINGS,
      });
    } catch (error) {
      if (!isGone(error)) {
        log.warn('a card could not be marked as over', { callId, channelId, messageId, error });
        return;
      }
    }
    await records.delete(callId);
  };

  return {
    isOverdue,
    expire,
    async expireGone(card) {
      if (!board.take(card)) return;
      await end(card, REASONS.deleted);
      await records.delete(card.callId);
    },
    async expireOverdue(userId) {
      // All at once: no call may look undecided while the card of another is being edited.
      const overdue = [...(board.of(userId) ?? [])].filter(isOverdue);
      await Promise.all(overdue.map((card) => expire(card, REASONS.timedOut)));
    },
  };
}
