import { CinnabarError, type Collections, z } from '@cinnabar/sdk';

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
