import { type BilledUsage, type Receipt, tokensOf } from '@cinnabar/sdk';
import type { Sum } from './days.js';

/** What a receipt adds to the sums: all of it, or the difference to the one that it takes the place of. */
export function usedBy(receipt: Receipt, before: Receipt | undefined): Sum {
  const now = wholeOf(receipt);
  if (before === undefined) return now;
  const then = wholeOf(before);
  return {
    runs: 0,
    tokens: now.tokens - then.tokens,
    usd: now.usd - then.usd,
    unpriced: now.unpriced - then.unpriced,
    usage: difference(now.usage, then.usage),
  };
}

function wholeOf({ usage, cost }: Receipt): Sum {
  return { runs: 1, tokens: tokensOf(usage), usd: cost ?? 0, unpriced: cost === null ? 1 : 0, usage };
}

function difference(now: BilledUsage, then: BilledUsage): BilledUsage {
  return {
    inputTokens: now.inputTokens - then.inputTokens,
    outputTokens: now.outputTokens - then.outputTokens,
    cacheCreationTokens: now.cacheCreationTokens - then.cacheCreationTokens,
    cacheReadTokens: now.cacheReadTokens - then.cacheReadTokens,
    cacheCreation1hTokens: now.cacheCreation1hTokens - then.cacheCreation1hTokens,
  };
}
