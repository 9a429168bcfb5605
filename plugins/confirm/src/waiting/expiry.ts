import type { Clock, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Ending } from '../card/ending.js';
import { endCard } from '../discord/end-card.js';
import { channelOf } from '../discord/place.js';
import { pressedBy } from '../discord/pressed.js';
import type { Recovery } from '../lifecycle/recover.js';
import type { Board } from './board.js';
import { type Request, requestsOf, type WaitingCard } from './card.js';
import type { Connection } from './connection.js';
import type { Outbox } from './outbox.js';
import type { Records } from './records.js';

export const REASONS = {
  timedOut: 'nobody confirmed it in time, so it was not run',
  undelivered: 'the confirmation card could not be posted, so it was not run',
  deleted: 'the confirmation card was deleted, so it was not run',
  restarted: 'the bot was restarted before this was decided, so it was not run',
  forgotten: 'the member had their data deleted, so it was not run',
  withdrawn: 'what it was part of was stopped before this was decided, so it was not run',
} as const;

/** Ends without a decision that a card can show. */
type Reason = Exclude<keyof typeof REASONS, 'deleted'> & Ending;

interface Parts {
  readonly board: Board;
  readonly records: Records;
  readonly outbox: Outbox;
  readonly recovery: Recovery;
  readonly connection: Connection;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Ends cards without a decision. In a conversation that follows from what members do (no timers, as the design wants). A task has nothing but
 * the card to wait for, so its cards are looked through every minute.
 */
export interface Expiry {
  isOverdue(card: WaitingCard): boolean;
  /** Ends the call, then shows that on the card. Does nothing when the card is off the board already. */
  expire(card: WaitingCard, reason: Reason): Promise<void>;
  /** Like `expire`, for a card whose message is gone. */
  expireGone(card: WaitingCard): Promise<void>;
  expireOverdue(userId: string): Promise<void>;
  /** The same for the cards of tasks, of all members. */
  expireTaskCards(): Promise<void>;
}

export function createExpiry({ board, records, outbox, recovery, connection, client, clock, log }: Parts): Expiry {
  const isOverdue = (card: WaitingCard) => clock.now() > card.expiresAt;

  /** `false` when a decision came first, in whatever process. */
  const end = async ({ call, settle }: Request, reason: string) => {
    const callId = call.id;
    try {
      return await call.expire(reason);
    } catch (error) {
      // Off the board nothing can run it any more, so it is over, written or not; the host tries once more to write it.
      log.error('the end of a call could not be saved', { callId, error });
      return true;
    } finally {
      // The ledger has the last word: where this was not first, what is told here is replaced by what happened.
      settle({ status: 'expired', callId, reason });
    }
  };

  /** Cut off when the time ran out, the bot may have learned of a 👍 too late: then it must not say that there was none in time. */
  const endingOf = async (
    { guildId, channelId, messageId, userId, expiresAt }: WaitingCard,
    reason: Reason,
  ): Promise<Ending> => {
    // Direct messages come over the first shard.
    const { shardId = 0 } = client.guilds.cache.get(guildId ?? '') ?? {};
    if (reason !== 'timedOut' || !connection.wasDown(shardId, expiresAt)) return reason;
    const channel = await channelOf(client, channelId);
    const choice = channel === undefined ? undefined : await pressedBy(channel, messageId, userId);
    if (choice === undefined) return reason;
    return choice === 'approve' ? 'cutOff' : 'cancelled';
  };

  const expire: Expiry['expire'] = async (card, reason) => {
    if (!board.take(card)) return;
    const { callId } = card;
    const ends = await Promise.all(requestsOf(card).map((request) => end(request, REASONS[reason])));
    if (!ends.every(Boolean)) return outbox.put(callId, () => recovery.resolve(callId));
    await outbox.put(callId, async () => {
      await card.drawn;
      await endCard(client, { ...card, content: card.draw(card.state).content }, await endingOf(card, reason));
      await records.delete(callId);
    });
  };

  return {
    isOverdue,
    expire,
    async expireGone(card) {
      if (!board.take(card)) return;
      await Promise.all(requestsOf(card).map((request) => end(request, REASONS.deleted)));
      await records.delete(card.callId);
    },
    async expireOverdue(userId) {
      // All at once: no call may look undecided while the card of another is being edited.
      const overdue = [...(board.of(userId) ?? [])].filter(isOverdue);
      await Promise.all(overdue.map((card) => expire(card, 'timedOut')));
    },
    async expireTaskCards() {
      const overdue = [...board.all()].filter((card) => card.request.call.session !== undefined && isOverdue(card));
      await Promise.all(overdue.map((card) => expire(card, 'timedOut')));
    },
  };
}
