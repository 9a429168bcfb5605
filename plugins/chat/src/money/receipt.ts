import { z } from '@cinnabar/sdk';

const breakpoint = z.object({ at: z.string(), ttl: z.enum(['5m', '1h']), because: z.string() });

const facts = z.object({
  messages: z.number(),
  hidden: z.number(),
  images: z.number(),
  estimatedTokens: z.number(),
  rolled: z.boolean(),
  breakpoints: z.array(breakpoint).readonly(),
  plan: z.string(),
  expectedReadTokens: z.number(),
  expectedMiss: z.string().optional(),
});

export const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheCreationTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheCreation1hTokens: z.number(),
});

/** What one reply cost and why it was given. */
export const receiptSchema = z.object({
  id: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
  channelId: z.string(),
  guildId: z.string().nullable(),
  userId: z.string(),
  /** The bot's messages that it belongs to, so that `!why` can be asked by reply. */
  messageIds: z.array(z.string()).readonly(),
  /** Why it answered: "alice mentioned me". */
  trigger: z.string(),
  model: z.string(),
  provider: z.string(),
  mode: z.enum(['chat', 'prefill']),
  /** Sums over the model calls of the reply. */
  usage: usageSchema,
  calls: z.number(),
  /** US dollars; `null` when a price is not known. */
  cost: z.number().nullable(),
  facts,
  missCause: z.string().optional(),
  tools: z.array(z.object({ name: z.string(), outcome: z.string() })).readonly(),
  /** Configuration that differs from the defaults: "recencyWindow: 100, from a pinned message". */
  configured: z.array(z.string()).readonly().optional(),
  /** What could not be read, and whatever else there is to tell. */
  notes: z.array(z.string()).readonly().optional(),
});
export type Receipt = Readonly<z.output<typeof receiptSchema>>;
