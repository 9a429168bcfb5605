import { z } from '@cinnabar/sdk';

export const TTL_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;
export type Ttl = keyof typeof TTL_MS;

const MAX_GAPS = 16;
const MAX_ENTRIES = 16;

const entry = z.object({
  /** The last message of the prefix; `system` for what stands before all messages. */
  upToId: z.string(),
  /** Of everything in the prefix: whether it is still the same. */
  hash: z.string(),
  tokens: z.number(),
  /** Of what stands before the messages: members with other rights are offered other tools, and have entries of their own. */
  variant: z.string(),
  ttl: z.enum(['5m', '1h']),
  expiresAt: z.number(),
});
/** A prefix that the provider should still hold. */
export type CacheEntry = Readonly<z.output<typeof entry>>;

/** What is remembered of a channel between activations: one document of a collection, so that it survives a restart. */
export const channelMemorySchema = z.object({
  /** The window starts here; moves only when it rolls. */
  anchorId: z.string().optional(),
  /** The newest message when the window last rolled: a prefix that stays while the tail moves on. */
  baseId: z.string().optional(),
  /** Last message of the previous request: where its tail breakpoint lay. */
  previousTailId: z.string().optional(),
  lastActivationAt: z.number().optional(),
  /** Recent gaps between activations, in ms and in messages, newest last. */
  gapsMs: z.array(z.number()).default([]),
  gapsMessages: z.array(z.number()).default([]),
  cached: z.array(entry).default([]),
  /** What stood before the messages, each part hashed: for the cause of a miss. */
  before: z.object({ model: z.string(), tools: z.string(), system: z.string() }).optional(),
  /** What each speaker is called, for as long as the provider holds text with that name. */
  names: z.record(z.string(), z.string()).default({}),
  /** Images that are shown. */
  images: z.array(z.string()).default([]),
  /** Text files whose text is shown. */
  textFiles: z.array(z.string()).default([]),
});
export type ChannelMemory = Readonly<z.output<typeof channelMemorySchema>>;

/** Of a channel in which nothing has happened yet. */
export const EMPTY_MEMORY: ChannelMemory = channelMemorySchema.parse({});

export function lastGaps(gaps: readonly number[], newest: number): number[] {
  return [...gaps, newest].slice(-MAX_GAPS);
}

/**
 * What the provider holds after a request with these prefixes, of what can be of use: a prefix of the same variant that is not part of
 * the request can never be read again. One that it held already keeps its time to live, from now on; others live on until theirs is over.
 */
export function afterRequest(
  before: readonly CacheEntry[],
  request: { readonly variant: string; readonly hashes: ReadonlySet<string> },
  written: readonly Omit<CacheEntry, 'expiresAt' | 'variant'>[],
  now: number,
): CacheEntry[] {
  const { variant, hashes } = request;
  const alive = before.filter((entry) => isAlive(entry, now) && (hashes.has(entry.hash) || entry.variant !== variant));
  const held = written.map((prefix) => {
    const ttl = alive.find(({ hash }) => hash === prefix.hash)?.ttl ?? prefix.ttl;
    return { ...prefix, variant, ttl, expiresAt: now + TTL_MS[ttl] };
  });
  const renewed = new Set(held.map(({ hash }) => hash));
  return [...alive.filter(({ hash }) => !renewed.has(hash)), ...held].slice(-MAX_ENTRIES);
}

export function isAlive({ expiresAt }: CacheEntry, now: number): boolean {
  return expiresAt > now;
}

/** Whether the provider holds anything of the conversation, for whomever. */
export function isConversationHeld({ cached }: ChannelMemory, now: number): boolean {
  return cached.some((entry) => entry.upToId !== 'system' && isAlive(entry, now));
}
