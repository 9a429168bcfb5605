import type { Actor, Decision } from './access.js';
import type { LlmRequest, ModelPrice, Usage } from './llm.js';
import type { Charge } from './metering.js';
import { currentLocale, t } from './text/language.js';
import { defineToken } from './token.js';

/** Tokens of all the model calls of one piece of work, by what they cost. */
export interface BilledUsage {
  /** Neither read from a cache nor written to one. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheCreationTokens: number;
  readonly cacheReadTokens: number;
  /** Of `cacheCreationTokens`, those that the provider keeps for an hour. */
  readonly cacheCreation1hTokens: number;
}

/** The sum of model calls, made by `billFor`. */
export interface Bill {
  readonly usage: BilledUsage;
  /** How many calls. */
  readonly calls: number;
  /** US dollars; `null` when a price is not known. */
  readonly cost: number | null;
}

/** The cost of one piece of work of a responder (an answer, a step of a task, a thought without a result), and its reason. */
export interface Receipt extends Bill {
  /** Unique for the responder in the channel. A receipt with the same id replaces the previous one: only the difference is added to the sums. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The responder or plugin that did it: `chat`, `persona`. */
  readonly mind: string;
  /** The member, channel and guild that it counts for. */
  readonly actor: Actor;
  /** The bot's messages that it belongs to, so that a reply with `!why` finds it. Empty when nothing was sent. */
  readonly messageIds: readonly string[];
  /** Why, in the first person, plain text: "I was mentioned". */
  readonly trigger: string;
  /** The provider's name of the model; for an external agent, its name. */
  readonly model: string;
  readonly provider: string;
  readonly mode?: 'chat' | 'prefill' | undefined;
  readonly tools: readonly { readonly name: string; readonly outcome: string }[];
  /** Details about the sources of the answer, plain text: "Read: 42 messages, about 950 tokens". The text before the first colon is the heading. */
  readonly details: readonly string[];
  /** Why the provider's cache was not used as expected. */
  readonly missCause?: string | undefined;
  /** Configuration that differs from the defaults: "maxImages, from config/shared.yaml:3". */
  readonly configured?: readonly string[] | undefined;
  /** Unreadable parts, and other notes. */
  readonly notes?: readonly string[] | undefined;
}

/** An amount that is used, or its maximum. */
export interface Amount {
  readonly tokens: number;
  /** US dollars; `null` when a price is not known. */
  readonly usd: number | null;
}

/** Limits for a day and for a calendar month (UTC). An amount that is left out is not limited. */
export interface DayLimit {
  readonly tokensPerDay?: number | undefined;
  readonly usdPerDay?: number | undefined;
  readonly tokensPerMonth?: number | undefined;
  readonly usdPerMonth?: number | undefined;
}

/** Limits on the use by all responders together, for a guild, in a channel, for a member of a guild. */
export interface BudgetLimits {
  readonly guild?: DayLimit | undefined;
  readonly channel?: DayLimit | undefined;
  readonly member?: DayLimit | undefined;
}

/** A reservation in the budgets for one piece of work. */
export interface Reservation {
  /** When the work is refused, nothing is reserved. `budgetRefusal` makes a sentence of it. */
  readonly decision: Decision;
  /** Releases the reservation: the work was recorded, or was not done. A second call does nothing. */
  release(): Promise<void>;
}

/** A request as it goes to a model, for `Accounts.keepRequest`. */
export interface SentRequest {
  /** The id of the piece of work that it belongs to: `Receipt.id`. */
  readonly receiptId: string;
  readonly charge: Charge;
  /** Number of previous requests of the same piece of work. */
  readonly index: number;
  /** When the request was sent, in milliseconds since 1970. */
  readonly at: number;
  /** The model that the request went to; `undefined` when it is not known. */
  readonly model: { readonly provider: string; readonly model: string } | undefined;
  readonly request: LlmRequest;
}

/**
 * The use by all responders. The `budgets` of the configuration files apply to all of them; `limits` are a responder's own, in addition to those.
 * A responder reserves, works, records in a `finally`, and then releases. Provided by the plugin `accounts`; without it nothing is limited.
 */
export interface Accounts {
  /**
   * Whether a budget of guild, channel or member is used up; the reasons say when the next period starts, and how to raise the budget.
   * @param most the maximum use of the work, if known
   */
  check(actor: Actor, limits?: BudgetLimits, most?: Amount): Promise<Decision>;
  /**
   * Like `check`, and reserves `most` until it is released: of concurrent pieces of work at most one can exceed a budget. A reservation that is not released
   * ends after 15 minutes.
   * @param most the maximum use of the work (`mostOf`)
   */
  reserve(actor: Actor, most: Amount, limits?: BudgetLimits): Promise<Reservation>;
  /** Adds a receipt to the sums of its day (UTC), and stores it for `!why`. Resolves once it is written. */
  record(receipt: Receipt): Promise<void>;
  /**
   * Stores a request to a model, if the bot's owner wants that. Call it with each completion, in the order within a piece of work. Never rejects, so that an
   * answer does not fail because of it.
   */
  keepRequest(sent: SentRequest): Promise<void>;
  /** The stored receipts of the channel, newest first; of one responder when it is named. */
  receipts(channelId: string, mind?: string): Promise<readonly Receipt[]>;
}
export const Accounts = defineToken<Accounts>('cinnabar.accounts');

const MILLION = 1_000_000;

/** No tokens: the initial value for sums. */
export const NO_USAGE: BilledUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
  cacheCreation1hTokens: 0,
};

/** US dollars for a usage. Tokens written to a cache have separate prices for five minutes and for an hour. */
export function costOf(usage: Usage, price: ModelPrice): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens, cacheCreation1hTokens } = addUsage(
    NO_USAGE,
    usage,
  );
  const dollars =
    inputTokens * price.input +
    outputTokens * price.output +
    cacheReadTokens * price.cacheRead +
    (cacheCreationTokens - cacheCreation1hTokens) * price.cacheWrite5m +
    cacheCreation1hTokens * price.cacheWrite1h;
  return dollars / MILLION;
}

/** All tokens: the whole prompt, whether cached or not, and the answer. */
export function tokensOf({ inputTokens, outputTokens, cacheCreationTokens = 0, cacheReadTokens = 0 }: Usage): number {
  return inputTokens + outputTokens + cacheCreationTokens + cacheReadTokens;
}

/** The sum of two usages. Missing cache counts are 0. */
export function addUsage(sum: BilledUsage, more: Usage): BilledUsage {
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    cacheCreationTokens: sum.cacheCreationTokens + (more.cacheCreationTokens ?? 0),
    cacheReadTokens: sum.cacheReadTokens + (more.cacheReadTokens ?? 0),
    cacheCreation1hTokens: sum.cacheCreation1hTokens + (more.cacheCreation1hTokens ?? 0),
  };
}

/** Sums over model calls, each at the price of the model that answered it; `cost` is `null` as soon as one has none. */
export function billFor(calls: readonly { readonly usage: Usage; readonly price: ModelPrice | undefined }[]): Bill {
  let usage = NO_USAGE;
  let cost: number | null = 0;
  for (const call of calls) {
    usage = addUsage(usage, call.usage);
    cost = call.price === undefined || cost === null ? null : cost + costOf(call.usage, call.price);
  }
  return { usage, calls: calls.length, cost };
}

/** The maximum use of one call: the whole prompt written to the cache, and the longest answer. */
export function mostOf(promptTokens: number, maxTokens: number, price: ModelPrice | undefined): Amount {
  const usage = {
    inputTokens: 0,
    outputTokens: maxTokens,
    cacheCreationTokens: promptTokens,
    cacheCreation1hTokens: promptTokens,
  };
  return { tokens: promptTokens + maxTokens, usd: price === undefined ? null : costOf(usage, price) };
}

/** The sentence for a person whose request a budget refused. */
export function budgetRefusal({ reasons }: Decision): string {
  const denied = reasons.filter(({ allowed }) => !allowed).map(({ text }) => text);
  return t('I cannot answer at the moment: {reasons}.', { reasons: denied.join('; ') });
}

/** A rounded count with the separators of the current language: `12,345`. */
export function formatCount(number: number): string {
  return Math.round(number).toLocaleString(currentLocale());
}

/** US dollars with two significant digits: `$0.0031`, `$1.25`. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '$0';
  return `$${usd >= 0.1 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}

/** A usage for people: "100 fresh, 30 written (10 for an hour), 820 read, 50 output". */
export function usageText(usage: BilledUsage): string {
  const { inputTokens, cacheCreationTokens, cacheCreation1hTokens, cacheReadTokens, outputTokens } = usage;
  const values = {
    fresh: formatCount(inputTokens),
    written: formatCount(cacheCreationTokens),
    lasting: formatCount(cacheCreation1hTokens),
    read: formatCount(cacheReadTokens),
    output: formatCount(outputTokens),
  };
  return cacheCreation1hTokens === 0
    ? t('{fresh} fresh, {written} written, {read} read, {output} output', values)
    : t('{fresh} fresh, {written} written ({lasting} for an hour), {read} read, {output} output', values);
}

/** The line in small print under an answer, with its usage and cost. */
export function receiptLine({ usage, cost }: Pick<Receipt, 'usage' | 'cost'>): string {
  return `-# ${usageText(usage)} · ${cost === null ? t('price not known') : formatUsd(cost)}`;
}
