import { type BilledUsage, type Receipt, tokensOf } from '@cinnabar/sdk';
import type { Sum } from './days.js';

/** What a receipt comes to. */
export function wholeOf({ usage, cost }: Pick<Receipt, 'usage' | 'cost'>): Sum {
  return { runs: 1, tokens: tokensOf(usage), usd: cost ?? 0, unpriced: cost === null ? 1 : 0, usage };
}

/** What is missing in sums that have counted `then`. */
export function difference(now: Sum, then: Sum): Sum {
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
