import { CinnabarError, type Collections, type Logger, type PersonalData, z } from '@cinnabar/sdk';
import type { Expiry } from './expiry.js';
import type { Grants } from './grants.js';
import type { Board } from './pending-cards.js';

export const collections = {
  /**
   * By call id. Written before the card is posted, deleted when the member has been shown what became of it: what is left at a start is work to
   * do. How the call stands, and what there is to say of it, is in the host's ledger.
   */
  cards: {
    scope: 'global',
    version: 1,
    schema: z.object({
      userId: z.string(),
      guildId: z.string().nullable(),
      channelId: z.string(),
      content: z.string(),
      /** The channel's latest message before the card, to find a card whose delivery was not confirmed. */
      after: z.string(),
      /** Absent until Discord has confirmed the delivery. */
      messageId: z.string().optional(),
      /** Milliseconds since the epoch; absent until the delivery is confirmed. */
      expiresAt: z.number().optional(),
      /** What is asked, and what is said when the member cancels it. */
      sentence: z.string().optional(),
      cancelled: z.string().optional(),
      /** Further calls on the same card, in the order in which they run. */
      also: z.array(z.object({ callId: z.string(), sentence: z.string(), cancelled: z.string() })).default([]),
    }),
  },
} as const;

export type CardRecord = z.output<(typeof collections)['cards']['schema']>;

export interface Records {
  save(callId: string, record: CardRecord): Promise<void>;
  /** Changes a record that is still there. */
  change(callId: string, change: Partial<CardRecord>): Promise<void>;
  delete(callId: string): Promise<void>;
  all(): AsyncIterable<readonly [callId: string, record: CardRecord]>;
}

export function createRecords({ cards }: Collections<typeof collections>): Records {
  return {
    async save(callId, record) {
      await cards.of(callId).set(record);
    },
    async change(callId, change) {
      try {
        await cards.of(callId).update((record) => Object.assign(record, change));
      } catch (error) {
        // Decided meanwhile: then there is nothing left to keep.
        if (!(error instanceof CinnabarError && error.code === 'CINNABAR_DOCUMENT_MISSING')) throw error;
      }
    },
    delete: (callId) => cards.of(callId).delete(),
    all: () => cards.entries(),
  };
}

/**
 * What a member still has to be shown of a call. Its record stays until the work is done, so that the next process finds what this one
 * could not show; until then it is tried again with every `flush`.
 */
export interface Outbox {
  /** Does the work now. Never rejects: work that fails is kept, and a later one for the same call takes its place. */
  put(callId: string, work: () => Promise<void>): Promise<void>;
  /** The same, but not before the next `flush`. */
  later(callId: string, work: () => Promise<void>): void;
  /** Tries once more what has failed, one after another. */
  flush(): Promise<void>;
}

/** Beyond this the oldest waits for the next start. */
const MOST_KEPT = 1_000;

export function createOutbox({ log, signal }: { readonly log: Logger; readonly signal: AbortSignal }): Outbox {
  const kept = new Map<string, () => Promise<void>>();
  const later: Outbox['later'] = (callId, work) => {
    kept.delete(callId);
    kept.set(callId, work);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  };
  const put: Outbox['put'] = async (callId, work) => {
    kept.delete(callId);
    try {
      await work();
    } catch (error) {
      log.warn('what became of a call could not be shown yet', { callId, error });
      later(callId, work);
    }
  };
  return {
    put,
    later,
    async flush() {
      for (const [callId, work] of [...kept]) {
        if (signal.aborted) return;
        if (kept.get(callId) === work) await put(callId, work);
      }
    },
  };
}

/** The cards of a member's open requests, and what they have allowed for tasks. */
export function personalCards(parts: { board: Board; records: Records; expiry: Expiry; grants: Grants }): PersonalData {
  const { board, records, expiry, grants } = parts;
  const recordsOf = async (userId: string) => {
    const theirs: [callId: string, record: CardRecord][] = [];
    for await (const [callId, record] of records.all()) if (record.userId === userId) theirs.push([callId, record]);
    return theirs;
  };
  return {
    export: async (userId) => ({
      waiting: (await recordsOf(userId)).map(([callId, record]) => ({ callId, ...record })),
      allowed: await grants.exportFor(userId),
    }),
    async forget(userId) {
      for (const card of [...(board.of(userId) ?? [])]) await expiry.expire(card, 'forgotten');
      for (const [callId] of await recordsOf(userId)) await records.delete(callId);
      await grants.forget(userId);
    },
  };
}
