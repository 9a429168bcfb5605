import { type Collection, type Receipt, z } from '@cinnabar/sdk';

export const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheCreationTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheCreation1hTokens: z.number(),
});

const texts = z.array(z.string()).readonly();

const receiptSchema = z.object({
  id: z.string(),
  at: z.number(),
  mind: z.string(),
  actor: z.object({ userId: z.string(), guildId: z.string().nullable(), channelId: z.string() }),
  messageIds: texts,
  trigger: z.string(),
  model: z.string(),
  provider: z.string(),
  mode: z.enum(['chat', 'prefill']).optional(),
  usage: usageSchema,
  calls: z.number(),
  cost: z.number().nullable(),
  tools: z.array(z.object({ name: z.string(), outcome: z.string() })).readonly(),
  details: texts,
  missCause: z.string().optional(),
  configured: texts.optional(),
  notes: texts.optional(),
}) satisfies z.ZodType<Receipt>;

export const receiptsSchema = z.object({
  /** Of one channel, in the order in which they were last recorded. */
  receipts: z.array(receiptSchema).default([]),
});
type StoredReceipts = z.output<typeof receiptsSchema>;

const DAY_MS = 24 * 60 * 60_000;

type ReceiptStore = Collection<StoredReceipts, 'channel'>;

interface Retention {
  /** Of each mind in a channel, so that a busy one does not displace another's. */
  readonly receipts: number;
  readonly receiptDays: number;
}

/** The receipt that this one replaces. */
export async function knownReceipt(store: ReceiptStore, receipt: Receipt): Promise<Receipt | undefined> {
  const { receipts } = await store.of(receipt.actor.channelId).get();
  return receipts.find((one) => isSame(one, receipt));
}

export async function keepReceipt(store: ReceiptStore, receipt: Receipt, retention: Retention): Promise<void> {
  await store.of(receipt.actor.channelId).update((draft) => {
    const others = draft.receipts.filter(
      (one) => one.at > receipt.at - retention.receiptDays * DAY_MS && !isSame(one, receipt),
    );
    const all = [...others, receipt];
    const dropped = all.filter(({ mind }) => mind === receipt.mind).slice(0, -retention.receipts);
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
