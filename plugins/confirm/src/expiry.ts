import { type Clock, findSendable, type Registrar, withinLimit } from '@cinnabar/sdk';
import type { ConfirmContext } from './context.js';
import { endCard, fetchReaction } from './messages.js';
import { REASONS } from './outcomes.js';
import type { PendingCard, Request } from './pending-cards.js';
import { resolveCard } from './recovery.js';
import type { Ending } from './render.js';

/*
 * Ends cards without a decision. In a conversation that follows from what members do (no timers, as the design wants). A task has nothing but
 * the card to wait for, so its cards are checked every minute.
 */

/** A stop must not wait for Discord's rate limits: what is not marked by then is marked at the next start. */
const STOP_MS = 3_000;

export function isOverdue({ clock }: Pick<ConfirmContext, 'clock'>, card: PendingCard): boolean {
  return clock.now() > card.expiresAt;
}

/** Ends the calls, then shows that on the card. Does nothing when the card is not pending any more. */
export async function expireCard(
  context: ConfirmContext,
  card: PendingCard,
  reason: Exclude<keyof typeof REASONS, 'deleted'> & Ending,
): Promise<void> {
  const { cards, outbox, records, client } = context;
  if (!cards.take(card)) return;
  const { callId } = card;
  const ends = await Promise.all(card.requests.map((request) => endCall(context, request, REASONS[reason])));
  if (!ends.every(Boolean)) return outbox.put(callId, () => resolveCard(context, callId));
  await outbox.put(callId, async () => {
    await card.drawn;
    const ending = reason === 'timedOut' ? await timeoutEnding(context, card) : reason;
    await endCard(client, { ...card, content: card.draw(card.state).content }, ending);
    await records.delete(callId);
  });
}

/** Like `expireCard`, for a card whose message was deleted. */
export async function expireDeleted(context: ConfirmContext, messageId: string): Promise<void> {
  const card = context.cards.on(messageId);
  if (card === undefined || !context.cards.take(card)) return;
  await Promise.all(card.requests.map((request) => endCall(context, request, REASONS.deleted)));
  await context.records.delete(card.callId);
}

/** All at once: no call may look undecided while the card of another is being edited. */
export async function expireOverdue(context: ConfirmContext, userId: string): Promise<void> {
  const overdue = context.cards.of(userId).filter((card) => isOverdue(context, card));
  await Promise.all(overdue.map((card) => expireCard(context, card, 'timedOut')));
}

/** The same for the cards of tasks, of all members. */
export async function expireTaskCards(context: ConfirmContext): Promise<void> {
  const overdue = context.cards
    .all()
    .filter((card) => card.requests[0].call.session !== undefined && isOverdue(context, card));
  await Promise.all(overdue.map((card) => expireCard(context, card, 'timedOut')));
}

/** Ends everything that waits when the plugin stops: first none of it can run any more, then the cards say so. */
export async function expireAll(context: ConfirmContext): Promise<void> {
  const end = (card: PendingCard) => expireCard(context, card, isOverdue(context, card) ? 'timedOut' : 'restarted');
  await withinLimit(context.clock, STOP_MS, Promise.allSettled(context.cards.all().map(end)));
}

/** `false` when a decision came first, in whatever process. */
async function endCall({ log }: ConfirmContext, { call, settle }: Request, reason: string): Promise<boolean> {
  const callId = call.id;
  try {
    return await call.expire(reason);
  } catch (error) {
    // A card that was taken cannot be decided, so the call is over, written or not; the host tries once more to write it.
    log.error('the end of a call could not be saved', { callId, error });
    return true;
  } finally {
    // The ledger has the last word: where this was not first, this outcome is replaced by what happened.
    settle({ status: 'expired', callId, reason });
  }
}

/** Cut off when the time ran out, the bot may have learned of a 👍 too late: then it must not say that there was none in time. */
async function timeoutEnding(
  { client, outages }: ConfirmContext,
  { guildId, channelId, messageId, userId, expiresAt }: PendingCard,
): Promise<Ending> {
  // Direct messages come over the first shard.
  const { shardId = 0 } = client.guilds.cache.get(guildId ?? '') ?? {};
  if (!outages.wasDown(shardId, expiresAt)) return 'timedOut';
  const choice = await fetchReaction(await findSendable(client, channelId), messageId, userId);
  if (choice === undefined) return 'timedOut';
  return choice === 'approve' ? 'cutOff' : 'cancelled';
}

/** Outages of one shard that are remembered: cards are ended soon after their time, so the latest few are enough. */
const MOST_REMEMBERED = 20;

interface Outage {
  readonly from: number;
  /** `Infinity` while it lasts. */
  readonly to: number;
}

/**
 * Remembers when the bot was cut off from Discord's gateway, and so could not learn in time what members pressed.
 * @param onLost called when Discord will not deliver what happened meanwhile: the session was lost
 */
export function watchOutages(on: Registrar['on'], clock: Clock, onLost: () => unknown) {
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
    /** Whether the shard was cut off at that moment, in ms since the epoch. */
    wasDown: (shardId: number, at: number): boolean =>
      outages.get(shardId)?.some(({ from, to }) => from <= at && at <= to) === true,
  };
}

export type ShardOutages = ReturnType<typeof watchOutages>;
