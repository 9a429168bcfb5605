import { type Receipt, z } from '@cinnabar/sdk';

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
export type StoredReceipts = z.output<typeof receiptsSchema>;
