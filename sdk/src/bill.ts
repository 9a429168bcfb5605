import type { Decision } from './access.js';
import type { Amount, Bill, BilledUsage, Receipt } from './accounts.js';
import type { LlmCompletion, ModelPrice, Usage } from './llm.js';

const MILLION = 1_000_000;

export const NO_USAGE: BilledUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
  cacheCreation1hTokens: 0,
};

/** US dollars for a usage; what is written to a cache counts, for five minutes or for an hour. */
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

/** All tokens: the whole prompt, however it was read, and the answer. */
export function tokensOf({ inputTokens, outputTokens, cacheCreationTokens = 0, cacheReadTokens = 0 }: Usage): number {
  return inputTokens + outputTokens + cacheCreationTokens + cacheReadTokens;
}

export function addUsage(sum: BilledUsage, more: Usage): BilledUsage {
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    cacheCreationTokens: sum.cacheCreationTokens + (more.cacheCreationTokens ?? 0),
    cacheReadTokens: sum.cacheReadTokens + (more.cacheReadTokens ?? 0),
    cacheCreation1hTokens: sum.cacheCreation1hTokens + (more.cacheCreation1hTokens ?? 0),
  };
}

/**
 * Sums over model calls, each at the price of the model that answered it; `cost` is `null` as soon as one has none.
 * @param priceFor by the completion's model: `async (model) => (await llm.traits(model).catch(() => undefined))?.price`
 */
export async function billFor(
  completions: readonly Pick<LlmCompletion, 'usage' | 'model'>[],
  priceFor: (model: string) => Promise<ModelPrice | undefined>,
): Promise<Bill> {
  let usage = NO_USAGE;
  let cost: number | null = 0;
  for (const completion of completions) {
    usage = addUsage(usage, completion.usage);
    const price = await priceFor(completion.model);
    cost = price === undefined || cost === null ? null : cost + costOf(completion.usage, price);
  }
  return { usage, calls: completions.length, cost };
}

/** What one call can use at most: the whole prompt written anew, and the longest answer. */
export function mostOf(promptTokens: number, maxTokens: number, price: ModelPrice | undefined): Amount {
  const usage = {
    inputTokens: 0,
    outputTokens: maxTokens,
    cacheCreationTokens: promptTokens,
    cacheCreation1hTokens: promptTokens,
  };
  return { tokens: promptTokens + maxTokens, usd: price === undefined ? null : costOf(usage, price) };
}

/** The sentence for the person who was refused by a budget. */
export function budgetRefusal({ reasons }: Decision): string {
  const denied = reasons.filter(({ allowed }) => !allowed).map(({ text }) => text);
  return `I cannot answer at the moment: ${denied.join('; ')}.`;
}

/** `12,345` */
export function formatCount(number: number): string {
  return Math.round(number).toLocaleString('en-US');
}

/** US dollars with two digits that say something: `$0.0031`, `$1.25`. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '$0';
  return `$${usd >= 0.1 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}

/** "100 fresh, 30 written (10 for an hour), 820 read, 50 output" */
export function usageText(usage: BilledUsage): string {
  const { inputTokens, cacheCreationTokens, cacheCreation1hTokens, cacheReadTokens, outputTokens } = usage;
  const hour = cacheCreation1hTokens === 0 ? '' : ` (${formatCount(cacheCreation1hTokens)} for an hour)`;
  return [
    `${formatCount(inputTokens)} fresh`,
    `${formatCount(cacheCreationTokens)} written${hour}`,
    `${formatCount(cacheReadTokens)} read`,
    `${formatCount(outputTokens)} output`,
  ].join(', ');
}

/** The small line under an answer, where that is configured. */
export function receiptLine({ usage, cost }: Pick<Receipt, 'usage' | 'cost'>): string {
  return `-# ${usageText(usage)} · ${cost === null ? 'price not known' : formatUsd(cost)}`;
}
