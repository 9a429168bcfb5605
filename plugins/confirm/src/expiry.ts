import type { Clock, Logger, Registrar } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Outbox, Records } from './card-records.js';
import { channelOf, endCard, pressedBy } from './messages.js';
import { type Board, type Request, requestsOf, type WaitingCard } from './pending-cards.js';
import type { Recovery } from './recovery.js';
import type { Ending } from './render.js';

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

/** Outages of one shard that are remembered: cards are ended soon after their time, so the latest few are enough. */
const MOST_REMEMBERED = 20;

/** When the bot was cut off from Discord's gateway, and so could not learn in time what members pressed. */
interface Connection {
  /** Whether the shard was cut off at that moment, in ms since the epoch. */
  wasDown(shardId: number, at: number): boolean;
}

interface Outage {
  readonly from: number;
  /** `Infinity` while it lasts. */
  readonly to: number;
}

/** @param onLost called when Discord will not tell any more what happened meanwhile: the session was lost */
export function watchConnection(on: Registrar['on'], clock: Clock, onLost: () => unknown): Connection {
  const outages = new Map<number, readonly Outage[]>();
  const isDown = (shardId: number) => outages.get(shardId)?.at(-1)?.to === Number.POSITIVE_INFINITY;
  const end = (shardId: number): boolean => {
    const last = outages.get(shardId)?.at(-1);
    if (last === undefined || !isDown(shardId)) return false;
    const ended = { from: last.from, to: clock.now() };
    outages.set(shardId, [...(outages.get(shardId)?.slice(0, -1) ?? []), ended]);
    return true;
  };
  on('shardReconnecting', (shardId) => {
    if (isDown(shardId)) return;
    const begun = { from: clock.now(), to: Number.POSITIVE_INFINITY };
    outages.set(shardId, [...(outages.get(shardId) ?? []), begun].slice(-MOST_REMEMBERED));
  });
  on('shardResume', (shardId) => void end(shardId));
  on('shardReady', (shardId) => (end(shardId) ? onLost() : undefined));
  return {
    wasDown: (shardId, at) => outages.get(shardId)?.some(({ from, to }) => from <= at && at <= to) === true,
  };
}

/** A stop must not wait for Discord's rate limits: what is not marked by then is marked at the next start. */
const PATIENCE_MS = 3_000;

/** Ends everything that waits: first none of it can run any more, then the cards say so. */
export async function stopWaiting({ board, expiry, clock }: { board: Board; expiry: Expiry; clock: Clock }) {
  const open = [...board.all()];
  const ended = Promise.allSettled(
    open.map((card) => expiry.expire(card, expiry.isOverdue(card) ? 'timedOut' : 'restarted')),
  );
  let cancel: () => void = () => undefined;
  const patience = new Promise<void>((resolve) => {
    cancel = clock.after(PATIENCE_MS, resolve);
  });
  await Promise.race([ended, patience]);
  cancel();
}
