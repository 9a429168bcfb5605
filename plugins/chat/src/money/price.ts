import type { LlmCompletion, ModelPrice, Usage } from '@cinnabar/sdk';
import type { Receipt } from './receipt.js';
import type { Amount } from './types.js';

const MILLION = 1_000_000;

/** US dollars for a usage; what is written to a cache counts, for five minutes or for an hour. */
export function costOf(usage: Usage, price: ModelPrice): number {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheCreationTokens = 0, cacheCreation1hTokens = 0 } = usage;
  const dollars =
    inputTokens * price.input +
    outputTokens * price.output +
    cacheReadTokens * price.cacheRead +
    (cacheCreationTokens - cacheCreation1hTokens) * price.cacheWrite5m +
    cacheCreation1hTokens * price.cacheWrite1h;
  return dollars / MILLION;
}

/** All tokens: the whole prompt, however it was read, and the answer. */
export function tokensOf({
  inputTokens,
  outputTokens,
  cacheCreationTokens,
  cacheReadTokens,
}: Receipt['usage']): number {
  return inputTokens + outputTokens + cacheCreationTokens + cacheReadTokens;
}

/**
 * Sums over the calls of a reply, each at the price of the model that answered it; `cost` is `null` as soon as one has none.
 * @param priceFor by the completion's model
 */
export async function billFor(
  completions: readonly LlmCompletion[],
  priceFor: (model: string) => Promise<ModelPrice | undefined>,
): Promise<Pick<Receipt, 'calls' | 'cost' | 'usage'>> {
  const sum = { inputTokens: 0, outputTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0, cacheCreation1hTokens: 0 };
  let cost: number | null = 0;
  for (const { usage, model } of completions) {
    sum.inputTokens += usage.inputTokens;
    sum.outputTokens += usage.outputTokens;
    sum.cacheCreationTokens += usage.cacheCreationTokens ?? 0;
    sum.cacheReadTokens += usage.cacheReadTokens ?? 0;
    sum.cacheCreation1hTokens += usage.cacheCreation1hTokens ?? 0;
    const price = await priceFor(model);
    cost = price === undefined || cost === null ? null : cost + costOf(usage, price);
  }
  return { usage: sum, calls: completions.length, cost };
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
