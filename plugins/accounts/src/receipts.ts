import {
  addUsage,
  type BilledUsage,
  type Collection,
  type Document,
  NO_USAGE,
  type Receipt,
  tokensOf,
  z,
} from '@cinnabar/sdk';

const usageSchema = z.object({
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
  /** At most `Retention.receipts` for each responder, in the order of their last record. */
  receipts: z.array(receiptSchema).default([]),
});
type StoredReceipts = z.output<typeof receiptsSchema>;

const DAY_MS = 24 * 60 * 60_000;

type ReceiptStore = Collection<StoredReceipts, 'channel'>;

interface Retention {
  /** Maximum for each responder in a channel, so that a busy one does not displace the receipts of others. */
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

/** Removes receipts that are too old, including those of unused channels. */
export async function sweepReceipts(store: ReceiptStore, now: number, { receiptDays }: Retention): Promise<void> {
  const isOld = (receipt: Receipt) => receipt.at <= now - receiptDays * DAY_MS;
  for await (const [channelId, { receipts }] of store.entries()) {
    if (!receipts.some(isOld)) continue;
    await store.of(channelId).update((draft) => {
      draft.receipts = draft.receipts.filter((one) => !isOld(one));
    });
    await store.of(channelId).delete(({ receipts: left }) => left.length === 0);
  }
}

/** Removes accounts whose last use is older than the retention of days. */
export async function sweepAccounts(
  entries: AsyncIterable<readonly [key: string, account: Account]>,
  documentOf: (key: string) => Pick<Document<Account>, 'delete'>,
  now: number,
): Promise<void> {
  const oldest = dayOf(now - KEPT_DAYS * DAY_MS);
  const isOver = ({ days, held }: Account) =>
    held.every(({ until }) => until < now) && Object.keys(days).every((day) => day < oldest);
  for await (const [key, account] of entries) {
    if (isOver(account)) await documentOf(key).delete(isOver);
  }
}

/** The receipts of a channel, newest first. */
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

const KEPT_DAYS = 31;
/** More than the number of pieces of work that ever run at once in one place. */
const COUNTED_KEPT = 64;

export const sumSchema = z.object({
  /** Number of pieces of work: answers, and everything else with a receipt. */
  runs: z.number().default(0),
  tokens: z.number().default(0),
  usd: z.number().default(0),
  /** Number of runs without a known price: they are missing in `usd`. */
  unpriced: z.number().default(0),
  usage: usageSchema.default(NO_USAGE),
});
export type Sum = Readonly<z.output<typeof sumSchema>>;
export const NO_USE: Sum = sumSchema.parse({});

/** The amount that an account has counted for a receipt. */
const counted = z.object({ receipt: z.string(), sum: sumSchema });

const hold = z.object({ id: z.string(), tokens: z.number(), usd: z.number(), until: z.number() });

/** The use of one model or member on one day in a guild. */
export const shareSchema = z.object({
  day: z.string(),
  model: z.string().optional(),
  userId: z.string().optional(),
  runs: z.number(),
  tokens: z.number(),
  usd: z.number(),
});
export type Share = z.output<typeof shareSchema>;
/** Maximum number of shares for each past day: the largest are kept, so that the account stays small in a server with thousands of members. */
const SHARES_KEPT = 5;

/** The account of a guild, channel or member. */
export const accountSchema = z.object({
  /** By day (UTC), `2026-11-21`. */
  days: z.record(z.string(), sumSchema).default({}),
  /** For a guild's account: today's tokens by channel. */
  channels: z.object({ day: z.string(), tokens: z.record(z.string(), z.number()) }).optional(),
  /** The amounts of the latest receipts: a receipt that is recorded again, for instance after a crash between two accounts, is counted once in each. */
  counted: z.array(counted).default([]),
  /** Reservations of running work. */
  held: z.array(hold).default([]),
});
export type Account = z.output<typeof accountSchema>;

export const guildAccountSchema = accountSchema.extend({
  /** Shares by model, and by member. */
  shares: z.array(shareSchema).default([]),
});
export type GuildAccount = z.output<typeof guildAccountSchema>;

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** An account's use on this day, or in this calendar month within the days that are kept. */
export function usedIn(account: Pick<Account, 'days'>, at: number, period: 'day' | 'month'): Sum {
  const day = dayOf(at);
  if (period === 'day') return account.days[day] ?? NO_USE;
  const month = day.slice(0, 7);
  return addSums(Object.entries(account.days).flatMap(([date, used]) => (date.startsWith(month) ? [used] : [])));
}

/** The beginning of the next day (UTC), in milliseconds since 1970. */
export function nextDay(at: number): number {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS;
}

/** The days up to this one, latest first. */
export function lastDays(at: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, back) => dayOf(at - back * DAY_MS));
}

/**
 * Adds a receipt to the account's day, without the part that the account has already counted, and removes days that are too old.
 * @param before the receipt that it replaces
 * @returns the added amount
 */
export function enter(account: Account, receipt: Receipt, before: Receipt | undefined): Sum {
  const day = dayOf(receipt.at);
  const { actor, mind, id } = receipt;
  const name = `${actor.channelId}/${mind}/${id}`;
  const whole = wholeOf(receipt);
  const known = account.counted.find((one) => one.receipt === name)?.sum;
  const added = difference(whole, known ?? (before === undefined ? NO_USE : wholeOf(before)));
  account.days[day] = addSums([account.days[day] ?? NO_USE, added]);
  const newest = Object.keys(account.days).sort().slice(-KEPT_DAYS);
  account.days = Object.fromEntries(newest.flatMap((date) => toEntry(date, account.days[date])));
  const others = account.counted.filter((one) => one.receipt !== name);
  account.counted = [...others, { receipt: name, sum: whole }].slice(-COUNTED_KEPT);
  return added;
}

function toEntry<T>(key: string, value: T | undefined): readonly (readonly [string, T])[] {
  return value === undefined ? [] : [[key, value]];
}

/** Adds an amount to a channel in the guild's account. */
export function enterChannel(account: Account, channelId: string, at: number, { tokens }: Sum): void {
  const day = dayOf(at);
  if (account.channels !== undefined && account.channels.day > day) return;
  const today = account.channels?.day === day ? account.channels.tokens : {};
  account.channels = { day, tokens: { ...today, [channelId]: (today[channelId] ?? 0) + tokens } };
}

/** Adds an amount to its model and its member in the guild's account. */
export function enterShares(account: GuildAccount, { actor, at, model }: Receipt, { runs, tokens, usd }: Sum): void {
  const day = dayOf(at);
  // Only with the first receipt of a day: finding the largest shares of all days takes longer than the rest.
  const isFirst = account.shares.every((one) => one.day !== day);
  for (const whose of [{ model }, { userId: actor.userId }]) {
    const isTheirs = (one: Share) => one.day === day && one.model === whose.model && one.userId === whose.userId;
    const share = account.shares.find(isTheirs);
    if (share === undefined) account.shares.push({ day, ...whose, runs, tokens, usd });
    else Object.assign(share, { runs: share.runs + runs, tokens: share.tokens + tokens, usd: share.usd + usd });
  }
  if (isFirst) account.shares = keptShares(account.shares, Object.keys(account.days));
}

/** All shares of the newest day, and the largest of the other days. */
function keptShares(shares: readonly Share[], days: readonly string[]): Share[] {
  const newest = [...days].sort().at(-1);
  const isKept = (share: Share) => {
    if (share.day === newest) return true;
    const larger = shares.filter(
      (one) =>
        one.day === share.day && (one.model === undefined) === (share.model === undefined) && isLarger(one, share),
    );
    return days.includes(share.day) && larger.length < SHARES_KEPT;
  };
  return shares.filter(isKept);
}

const isLarger = (one: Share, other: Share): boolean =>
  one.usd > other.usd || (one.usd === other.usd && one.tokens > other.tokens);

export function addSums(sums: readonly Sum[]): Sum {
  return sums.reduce(
    (all, one) => ({
      runs: all.runs + one.runs,
      tokens: all.tokens + one.tokens,
      usd: all.usd + one.usd,
      unpriced: all.unpriced + one.unpriced,
      usage: addUsage(all.usage, one.usage),
    }),
    NO_USE,
  );
}

/** The amounts of a receipt. */
function wholeOf({ usage, cost }: Pick<Receipt, 'usage' | 'cost'>): Sum {
  return { runs: 1, tokens: tokensOf(usage), usd: cost ?? 0, unpriced: cost === null ? 1 : 0, usage };
}

/** The difference between a sum and an earlier one. */
function difference(now: Sum, then: Sum): Sum {
  return {
    runs: now.runs - then.runs,
    tokens: now.tokens - then.tokens,
    usd: now.usd - then.usd,
    unpriced: now.unpriced - then.unpriced,
    usage: usageDifference(now.usage, then.usage),
  };
}

function usageDifference(now: BilledUsage, then: BilledUsage): BilledUsage {
  return {
    inputTokens: now.inputTokens - then.inputTokens,
    outputTokens: now.outputTokens - then.outputTokens,
    cacheCreationTokens: now.cacheCreationTokens - then.cacheCreationTokens,
    cacheReadTokens: now.cacheReadTokens - then.cacheReadTokens,
    cacheCreation1hTokens: now.cacheCreation1hTokens - then.cacheCreation1hTokens,
  };
}
