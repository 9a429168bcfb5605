import type { Collection, Receipt } from '@cinnabar/sdk';
import type { StoredReceipts } from './schema.js';

const DAY_MS = 24 * 60 * 60_000;

export interface Kept {
  /** Of each mind in a channel: one that works a lot does not push out another's answers. */
  readonly receipts: number;
  readonly receiptDays: number;
}

export type ReceiptStore = Collection<StoredReceipts, 'channel'>;

/** The receipt that this one takes the place of. */
export async function knownReceipt(store: ReceiptStore, receipt: Receipt): Promise<Receipt | undefined> {
  const { receipts } = await store.of(receipt.actor.channelId).get();
  return receipts.find((one) => isSame(one, receipt));
}

export async function keepReceipt(store: ReceiptStore, receipt: Receipt, kept: Kept): Promise<void> {
  await store.of(receipt.actor.channelId).update((draft) => {
    const others = draft.receipts.filter(
      (one) => one.at > receipt.at - kept.receiptDays * DAY_MS && !isSame(one, receipt),
    );
    const all = [...others, receipt];
    const dropped = all.filter(({ mind }) => mind === receipt.mind).slice(0, -kept.receipts);
    draft.receipts = all.filter((one) => !dropped.includes(one));
  });
}

function isSame(one: Receipt, other: Receipt): boolean {
  return one.id === other.id && one.mind === other.mind;
}

/** The newest first. */
export async function receiptsOf(
  store: ReceiptStore,
  channelId: string,
  mind: string | undefined,
): Promise<readonly Receipt[]> {
  const { receipts } = await store.of(channelId).get();
  return receipts.filter((receipt) => mind === undefined || receipt.mind === mind).toReversed();
}

/** The receipt of one of the bot's messages, or the channel's latest. */
export async function findReceipt(
  store: ReceiptStore,
  channelId: string,
  messageId?: string,
): Promise<Receipt | undefined> {
  const { receipts } = await store.of(channelId).get();
  if (messageId === undefined) return receipts.at(-1);
  return receipts.findLast(({ messageIds }) => messageIds.includes(messageId));
}

/** For `personalData`: receipts of what was done for a person, by channel. */
export async function exportReceipts(
  store: ReceiptStore,
  userId: string,
): Promise<Readonly<Record<string, readonly Receipt[]>>> {
  const found: Record<string, readonly Receipt[]> = {};
  for await (const [channelId, { receipts }] of store.entries()) {
    const theirs = receipts.filter(({ actor }) => actor.userId === userId);
    if (theirs.length > 0) found[channelId] = theirs;
  }
  return found;
}

export async function forgetReceipts(store: ReceiptStore, userId: string): Promise<void> {
  for await (const [channelId, { receipts }] of store.entries()) {
    if (!receipts.some(({ actor }) => actor.userId === userId)) continue;
    await store.of(channelId).update((draft) => {
      draft.receipts = draft.receipts.filter(({ actor }) => actor.userId !== userId);
    });
  }
}
