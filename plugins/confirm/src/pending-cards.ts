import { CinnabarError, type Collections, type Logger, type SettledOutcome, type ToolCall, z } from '@cinnabar/sdk';
import type { Rules } from './context.js';
import type { CardFace, CardState } from './controls.js';
import type { Allowance } from './grants.js';

/** A call that needs a decision. */
export interface HeldCall {
  readonly call: ToolCall;
  readonly rules: Rules;
  /** The grants that are offered in addition to this one call. */
  readonly allowance: Allowance;
  /** Executes the approved call. */
  run(): Promise<SettledOutcome>;
}

/** A call on a card. */
export interface Request extends Omit<HeldCall, 'rules'> {
  /** Passes the outcome to the caller that waits for it. */
  resolve(outcome: SettledOutcome): void;
}

/** A posted card that waits for its requester's decision. */
export interface PendingCard {
  /** The id of the first call, which is also that of the card's record. */
  readonly callId: string;
  /** The requester, who alone may decide. */
  readonly userId: string;
  readonly guildId: string | null;
  readonly channelId: string;
  readonly messageId: string;
  /** The question, unescaped, for lists. */
  readonly sentence: string;
  /** The content of the card's message in a given state. */
  draw(state: CardState): CardFace;
  state: CardState;
  /** Resolves when the latest edit of the message has ended, also after a failure. */
  drawn: Promise<unknown>;
  /** In ms since the Unix epoch. The card may be decided up to this time, inclusive. */
  readonly expiresAt: number;
  /** The calls in the order in which they are executed; several when one step of the model requested them together. */
  readonly requests: readonly [Request, ...Request[]];
}

type Location = Pick<PendingCard, 'guildId' | 'channelId'>;

/** Number of decided cards that are kept, to recognise a second reaction. */
const DECIDED_KEPT = 1000;

const NONE: readonly PendingCard[] = [];

/** The pending cards by message, requester and place; the cards that are being posted; and who decided the latest ones. */
export function createPendingCards() {
  const byMessage = new Map<string, PendingCard>();
  const byUser = new Map<string, Set<PendingCard>>();
  const byLocation = new Map<string, Set<PendingCard>>();
  const deciders = new Map<string, string>();
  const listeners = new Set<(userId: string) => void>();
  const tell = ({ userId }: PendingCard) => {
    for (const listener of listeners) listener(userId);
  };
  const deliveries = new Set<{ readonly userId: string; readonly delivery: Promise<unknown> }>();

  return {
    add(card: PendingCard): void {
      byMessage.set(card.messageId, card);
      addTo(byUser, card.userId, card);
      addTo(byLocation, keyOf(card), card);
      tell(card);
    },
    /** Calls the listener with the ids of members whose cards have changed. @returns a function that stops this */
    onChange(listener: (userId: string) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Removes a card. `false` when it was removed before: only the caller that gets `true` may decide or end it. */
    take(card: PendingCard): boolean {
      if (!byMessage.delete(card.messageId)) return false;
      removeFrom(byUser, card.userId, card);
      removeFrom(byLocation, keyOf(card), card);
      tell(card);
      return true;
    },
    has: ({ messageId }: PendingCard): boolean => byMessage.has(messageId),
    on: (messageId: string): PendingCard | undefined => byMessage.get(messageId),
    /** The member's cards, as a copy, because the set may change during the iteration. */
    of(userId: string): readonly PendingCard[] {
      const theirs = byUser.get(userId);
      return theirs === undefined ? NONE : [...theirs];
    },
    all: (): readonly PendingCard[] => [...byMessage.values()],
    /** The cards of a guild, or of a direct message. */
    at: (location: Location): ReadonlySet<PendingCard> => byLocation.get(keyOf(location)) ?? new Set(),
    setDecider(messageId: string, userId: string): void {
      deciders.set(messageId, userId);
      const [oldest] = deciders.keys();
      if (deciders.size > DECIDED_KEPT && oldest !== undefined) deciders.delete(oldest);
    },
    /** The user who decided a card; `undefined` for an undecided card, or one that was decided long ago. */
    deciderOf: (messageId: string): string | undefined => deciders.get(messageId),
    /** Records that a card is being posted, because the event of a reaction may arrive before the response that confirms the card. */
    async deliver<T>(userId: string, delivery: Promise<T>): Promise<T> {
      const entry = { userId, delivery };
      deliveries.add(entry);
      try {
        return await delivery;
      } finally {
        deliveries.delete(entry);
      }
    },
    /** A promise that resolves when none of this user's cards is being posted; `undefined` if none is. */
    delivered(userId: string): Promise<unknown> | undefined {
      if (deliveries.size === 0) return undefined;
      const theirs = [...deliveries].filter((entry) => entry.userId === userId);
      return Promise.allSettled(theirs.map(({ delivery }) => delivery));
    },
  };
}

export type PendingCards = ReturnType<typeof createPendingCards>;

function keyOf({ guildId, channelId }: Location): string {
  return guildId ?? channelId;
}

function addTo<Card>(lists: Map<string, Set<Card>>, key: string, card: Card): void {
  lists.set(key, (lists.get(key) ?? new Set()).add(card));
}

function removeFrom<Card>(lists: Map<string, Set<Card>>, key: string, card: Card): void {
  const list = lists.get(key);
  list?.delete(card);
  if (list?.size === 0) lists.delete(key);
}

export const collections = {
  /**
   * Records by call id. Written before the card is posted, deleted when the member was shown the outcome: records that exist at a start are unfinished work.
   * The state and the result of the call are in the host's ledger.
   */
  cards: {
    scope: 'global',
    version: 1,
    personal: { by: 'userId' },
    schema: z.object({
      userId: z.string(),
      guildId: z.string().nullable(),
      channelId: z.string(),
      content: z.string(),
      /** The channel's latest message before the card, for finding a card whose delivery was not confirmed. */
      after: z.string(),
      /** Absent until Discord has confirmed the message. */
      messageId: z.string().optional(),
      /** In ms since the Unix epoch; absent until the message is confirmed. */
      expiresAt: z.number().optional(),
      /** The question of the card, and its text for a cancellation. */
      sentence: z.string().optional(),
      cancelled: z.string().optional(),
      /** Further calls on the same card, in the order in which they are executed. */
      also: z.array(z.object({ callId: z.string(), sentence: z.string(), cancelled: z.string() })).default([]),
    }),
  },
} as const;

export type CardRecord = z.output<(typeof collections)['cards']['schema']>;

/** The stored cards. */
export function createCardRecords({ cards }: Collections<typeof collections>) {
  return {
    async save(callId: string, record: CardRecord): Promise<void> {
      await cards.of(callId).set(record);
    },
    /** Changes a record if it still exists. */
    async change(callId: string, change: Partial<CardRecord>): Promise<void> {
      try {
        await cards.of(callId).update((record) => Object.assign(record, change));
      } catch (error) {
        // The card was decided meanwhile, so its record is not needed.
        if (!(error instanceof CinnabarError && error.code === 'CINNABAR_DOCUMENT_MISSING')) throw error;
      }
    },
    delete: (callId: string): Promise<void> => cards.of(callId).delete(),
    all: (): AsyncIterable<readonly [callId: string, record: CardRecord]> => cards.entries(),
  };
}

export type CardRecords = ReturnType<typeof createCardRecords>;

/** Beyond this number, the oldest update waits for the next start. */
const MOST_KEPT = 1_000;

/**
 * Retries edits and answers that Discord has not accepted. A call's record stays until its update is done, so that the next process finds unfinished ones;
 * until then every `flush` tries it again.
 */
export function createOutbox({ log, signal }: { readonly log: Logger; readonly signal: AbortSignal }) {
  const kept = new Map<string, () => Promise<void>>();

  /** Schedules the work for the next `flush`. */
  function later(callId: string, work: () => Promise<void>): void {
    kept.delete(callId);
    kept.set(callId, work);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  }

  /** Does the work now. Never rejects: failed work is retried, and newer work for the same call replaces it. */
  async function put(callId: string, work: () => Promise<void>): Promise<void> {
    kept.delete(callId);
    try {
      await work();
    } catch (error) {
      log.warn('what became of a call could not be shown yet', { callId, error });
      later(callId, work);
    }
  }

  return {
    put,
    later,
    /** Tries failed work again, one after another. */
    async flush(): Promise<void> {
      for (const [callId, work] of [...kept]) {
        if (signal.aborted) return;
        if (kept.get(callId) === work) await put(callId, work);
      }
    },
  };
}

export type Outbox = ReturnType<typeof createOutbox>;

/** A call for a card, and the promise of its outcome. */
export function requestOf({ call, run, allowance }: HeldCall): { request: Request; settled: Promise<SettledOutcome> } {
  let resolve: Request['resolve'] = () => undefined;
  const settled = new Promise<SettledOutcome>((onSettled) => {
    resolve = onSettled;
  });
  return { request: { call, allowance, run, resolve }, settled };
}
