import { CinnabarError, type Collections, type Logger, z } from '@cinnabar/sdk';

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

/** The stored cards. */
export function createCardRecords({ cards }: Collections<typeof collections>) {
  return {
    async save(callId: string, record: CardRecord): Promise<void> {
      await cards.of(callId).set(record);
    },
    /** Changes a record that is still there. */
    async change(callId: string, change: Partial<CardRecord>): Promise<void> {
      try {
        await cards.of(callId).update((record) => Object.assign(record, change));
      } catch (error) {
        // Decided meanwhile: then there is nothing left to keep.
        if (!(error instanceof CinnabarError && error.code === 'CINNABAR_DOCUMENT_MISSING')) throw error;
      }
    },
    delete: (callId: string): Promise<void> => cards.of(callId).delete(),
    all: (): AsyncIterable<readonly [callId: string, record: CardRecord]> => cards.entries(),
    async of(userId: string) {
      const theirs: (readonly [callId: string, record: CardRecord])[] = [];
      for await (const [callId, record] of cards.entries()) {
        if (record.userId === userId) theirs.push([callId, record]);
      }
      return theirs;
    },
  };
}

export type CardRecords = ReturnType<typeof createCardRecords>;

/** Beyond this the oldest waits for the next start. */
const MOST_KEPT = 1_000;

/**
 * What a member still has to be shown of a call. Its record stays until the work is done, so that the next process finds what this one
 * could not show; until then it is tried again with every `flush`.
 */
export function createOutbox({ log, signal }: { readonly log: Logger; readonly signal: AbortSignal }) {
  const kept = new Map<string, () => Promise<void>>();

  /** Keeps the work for the next `flush`. */
  function later(callId: string, work: () => Promise<void>): void {
    kept.delete(callId);
    kept.set(callId, work);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  }

  /** Does the work now. Never rejects: work that fails is kept, and a later one for the same call takes its place. */
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
    /** Tries once more what has failed, one after another. */
    async flush(): Promise<void> {
      for (const [callId, work] of [...kept]) {
        if (signal.aborted) return;
        if (kept.get(callId) === work) await put(callId, work);
      }
    },
  };
}

export type Outbox = ReturnType<typeof createOutbox>;
