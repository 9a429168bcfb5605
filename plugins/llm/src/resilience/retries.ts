import type { Clock, Logger } from '@cinnabar/sdk';
import { handleType, retry } from 'cockatiel';
import type { Attempt, Failure } from '../providers/provider.js';
import { pause } from './deadline.js';

/** A provider that asks for more patience than this is not waited for. */
const LONGEST_WAIT_MS = 60_000;

export interface RetryRules {
  /** How often a failed attempt is repeated. */
  readonly retries: number;
  /** The same before each repetition; longer only where the provider asks for it. */
  readonly retryDelayMs: number;
  /** Nothing is begun that would have to wait until then. */
  readonly deadlineAt: number;
  readonly clock: Clock;
  readonly signals: readonly AbortSignal[];
  readonly log: Logger;
}

/** Carries a failure through the policy, which repeats on errors. */
class AttemptFailed extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.code);
    this.failure = failure;
  }
}

/** Repeats an attempt as long as its failure allows it. Each repetition is logged. */
export async function withRetries<R>(rules: RetryRules, attempt: () => Promise<Attempt<R>>): Promise<Attempt<R>> {
  let delayMs = 0;
  const pauseAfter = ({ retryAfterMs = 0 }: Failure) => Math.max(rules.retryDelayMs, retryAfterMs);
  const isWorthRepeating = ({ failure }: AttemptFailed) =>
    failure.retry &&
    (failure.retryAfterMs ?? 0) <= LONGEST_WAIT_MS &&
    rules.clock.now() + pauseAfter(failure) < rules.deadlineAt;
  const policy = retry(handleType(AttemptFailed, isWorthRepeating), { maxAttempts: rules.retries });
  policy.onRetry((reason) => {
    if (!('error' in reason) || !(reason.error instanceof AttemptFailed)) return;
    const { code, status } = reason.error.failure;
    delayMs = pauseAfter(reason.error.failure);
    rules.log.warn('model call failed, trying again', {
      attempt: reason.attempt,
      of: rules.retries,
      delayMs,
      code,
      status,
    });
  });
  try {
    return await policy.execute(async (context) => {
      // The pause is ours, not the policy's: it follows the injected clock and can be cancelled.
      const bounds = { clock: rules.clock, timeoutMs: delayMs, signals: rules.signals };
      if (context.attempt > 0 && !(await pause(bounds))) throw new AttemptFailed(CANCELLED);
      const result = await attempt();
      if (!result.ok) throw new AttemptFailed(result.failure);
      return result;
    });
  } catch (error) {
    if (error instanceof AttemptFailed) return { ok: false, failure: error.failure };
    throw error;
  }
}

export const CANCELLED: Failure = { code: 'CINNABAR_LLM_CANCELLED', params: {}, retry: false };
