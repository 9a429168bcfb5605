import { type Accounts, type Collection, z } from '@cinnabar/sdk';
import { detailsOf } from './receipt.js';

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheCreationTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheCreation1hTokens: z.number(),
});
const facts = z.object({
  messages: z.number(),
  hidden: z.number(),
  images: z.number(),
  estimatedTokens: z.number(),
  rolled: z.boolean(),
  plan: z.string(),
});
const receipt = z.object({
  id: z.string(),
  at: z.number(),
  channelId: z.string(),
  guildId: z.string().nullable(),
  userId: z.string(),
  messageIds: z.array(z.string()),
  trigger: z.string(),
  model: z.string(),
  provider: z.string(),
  mode: z.enum(['chat', 'prefill']),
  usage,
  calls: z.number(),
  cost: z.number().nullable(),
  facts,
  missCause: z.string().optional(),
  tools: z.array(z.object({ name: z.string(), outcome: z.string() })),
  configured: z.array(z.string()).optional(),
  notes: z.array(z.string()).optional(),
});
const schema = z.object({ receipts: z.array(receipt).default([]) });

/** Receipts that the chat mind kept itself before there were accounts for every mind. */
export const oldReceipts = { scope: 'channel', version: 1, schema } as const;
type OldReceipts = Collection<z.output<typeof schema>, 'channel'>;

/** Gives them to the accounts, which add them to the sums of their days. Done again after a crash, it counts nothing twice. */
export async function handOver(old: OldReceipts, accounts: Accounts): Promise<void> {
  for await (const [channelId, { receipts }] of old.entries()) {
    for (const { guildId, userId, facts: known, ...same } of receipts) {
      const actor = { guildId, userId, channelId };
      await accounts.record({ ...same, mind: 'chat', actor, details: detailsOf(known) });
    }
    await old.of(channelId).delete();
  }
}

/** Of what has not been handed over. */
export async function exportOldReceipts(old: OldReceipts, userId: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const [, { receipts }] of old.entries()) found.push(...receipts.filter((one) => one.userId === userId));
  return found;
}

export async function forgetOldReceipts(old: OldReceipts, userId: string): Promise<void> {
  for await (const [channelId, { receipts }] of old.entries()) {
    if (!receipts.some((one) => one.userId === userId)) continue;
    await old.of(channelId).update((draft) => {
      draft.receipts = draft.receipts.filter((one) => one.userId !== userId);
    });
  }
}
