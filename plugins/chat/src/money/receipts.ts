import { type Collection, z } from '@cinnabar/sdk';
import { type Receipt, receiptSchema } from './receipt.js';

const MAX_RECEIPTS = 50;
const KEPT_MS = 31 * 24 * 60 * 60_000;

export const receiptsSchema = z.object({
  /** Of one channel, oldest first. */
  receipts: z.array(receiptSchema).default([]),
});
export type StoredReceipts = z.output<typeof receiptsSchema>;
type Store = Collection<StoredReceipts, 'channel'>;

export async function keepReceipt(store: Store, receipt: Receipt): Promise<void> {
  await store.of(receipt.channelId).update((draft) => {
    const recent = draft.receipts.filter(({ at }) => at > receipt.at - KEPT_MS);
    draft.receipts = [...recent, receipt].slice(-MAX_RECEIPTS);
  });
}

/** The receipt of one of the bot's messages, or the channel's latest. */
export async function findReceipt(store: Store, channelId: string, messageId?: string): Promise<Receipt | undefined> {
  const { receipts } = await store.of(channelId).get();
  if (messageId === undefined) return receipts.at(-1);
  return receipts.findLast(({ messageIds }) => messageIds.includes(messageId));
}

/** For `personalData`: receipts of a member's own questions, by channel. */
export async function exportReceipts(
  store: Store,
  userId: string,
): Promise<Readonly<Record<string, readonly Receipt[]>>> {
  const found: Record<string, readonly Receipt[]> = {};
  for await (const [channelId, { receipts }] of store.entries()) {
    const theirs = receipts.filter((receipt) => receipt.userId === userId);
    if (theirs.length > 0) found[channelId] = theirs;
  }
  return found;
}

export async function forgetReceipts(store: Store, userId: string): Promise<void> {
  for await (const [channelId, { receipts }] of store.entries()) {
    if (!receipts.some((receipt) => receipt.userId === userId)) continue;
    await store.of(channelId).update((draft) => {
      draft.receipts = draft.receipts.filter((receipt) => receipt.userId !== userId);
    });
  }
}
