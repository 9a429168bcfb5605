import { z } from '@cinnabar/sdk';
import { tokensOf } from './price.js';
import { type Receipt, usageSchema } from './receipt.js';

const DAY_MS = 24 * 60 * 60_000;
const KEPT_DAYS = 31;

const NOTHING = {
  inputTokens: 0,
  outputTokens: 0,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
  cacheCreation1hTokens: 0,
};

const sum = z.object({
  replies: z.number().default(0),
  tokens: z.number().default(0),
  usd: z.number().default(0),
  /** Replies whose price is not known: they are missing in `usd`. */
  unpriced: z.number().default(0),
  usage: usageSchema.default(NOTHING),
});
export type Sum = Readonly<z.output<typeof sum>>;
export const NO_USE: Sum = sum.parse({});

const hold = z.object({ id: z.string(), tokens: z.number(), usd: z.number(), until: z.number() });

/** The account of a guild, channel or member. */
export const accountSchema = z.object({
  /** By day (UTC), `2026-11-21`. */
  days: z.record(z.string(), sum).default({}),
  /** Of a guild: today's tokens by channel. */
  channels: z.object({ day: z.string(), tokens: z.record(z.string(), z.number()) }).optional(),
  /** Room for replies that are being written. */
  held: z.array(hold).default([]),
});
export type Account = z.output<typeof accountSchema>;
export type Hold = z.output<typeof hold>;

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** When the next day (UTC) begins. */
export function nextDay(at: number): number {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS;
}

/** The days up to this one, the latest first. */
export function lastDays(at: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, back) => dayOf(at - back * DAY_MS));
}

/** Adds a reply to the account's day, and lets go of what is too old. */
export function enter(account: Account, receipt: Receipt): void {
  const day = dayOf(receipt.at);
  const tokens = tokensOf(receipt.usage);
  const before = account.days[day] ?? NO_USE;
  account.days[day] = {
    replies: before.replies + 1,
    tokens: before.tokens + tokens,
    usd: before.usd + (receipt.cost ?? 0),
    unpriced: before.unpriced + (receipt.cost === null ? 1 : 0),
    usage: addUsage(before.usage, receipt.usage),
  };
  const kept = new Set(lastDays(receipt.at, KEPT_DAYS));
  account.days = Object.fromEntries(Object.entries(account.days).filter(([date]) => kept.has(date)));
}

export function enterChannel(account: Account, { at, channelId, usage }: Receipt): void {
  const day = dayOf(at);
  const tokens = account.channels?.day === day ? account.channels.tokens : {};
  account.channels = { day, tokens: { ...tokens, [channelId]: (tokens[channelId] ?? 0) + tokensOf(usage) } };
}

export function addSums(sums: readonly Sum[]): Sum {
  return sums.reduce(
    (all, one) => ({
      replies: all.replies + one.replies,
      tokens: all.tokens + one.tokens,
      usd: all.usd + one.usd,
      unpriced: all.unpriced + one.unpriced,
      usage: addUsage(all.usage, one.usage),
    }),
    NO_USE,
  );
}

function addUsage(a: Receipt['usage'], b: Receipt['usage']): Receipt['usage'] {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheCreationTokens: a.cacheCreationTokens + b.cacheCreationTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheCreation1hTokens: a.cacheCreation1hTokens + b.cacheCreation1hTokens,
  };
}
