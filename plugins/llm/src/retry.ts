import type { Clock, Logger } from '@cinnabar/sdk';
import { handleType, retry } from 'cockatiel';
import type { Attempt, Failure } from './providers/provider.js';

/** A provider that asks for more patience than this is not waited for. */
const LONGEST_WAIT_MS = 60_000;

interface RetryRules {
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

export type Interruption = 'timeout' | 'cancelled';
type Bounded<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly why: Interruption };

export interface Bounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Any of them cancels. */
  readonly signals: readonly AbortSignal[];
}

/**
 * Runs a task until its end, its time limit or a cancellation, whichever comes first, and aborts the task's own signal in the latter
 * two. Does not wait for a task that takes its time to notice.
 */
export async function within<T>(bounds: Bounds, task: (signal: AbortSignal) => Promise<T>): Promise<Bounded<T>> {
  const controller = new AbortController();
  let interrupt: (why: Interruption) => void = () => undefined;
  const interrupted = new Promise<Bounded<T>>((resolve) => {
    interrupt = (why) => {
      resolve({ done: false, why });
      controller.abort();
    };
  });
  const cancel = () => interrupt('cancelled');
  if (bounds.signals.some((signal) => signal.aborted)) return { done: false, why: 'cancelled' };
  for (const signal of bounds.signals) signal.addEventListener('abort', cancel);
  const stopTimer = bounds.clock.after(bounds.timeoutMs, () => interrupt('timeout'));
  try {
    const running = task(controller.signal).then((value): Bounded<T> => ({ done: true, value }));
    return await Promise.race([interrupted, running]);
  } finally {
    stopTimer();
    for (const signal of bounds.signals) signal.removeEventListener('abort', cancel);
  }
}

/** Waits on the clock. Resolves `false` when cancelled. */
async function pause(bounds: Bounds): Promise<boolean> {
  const end = await within(bounds, () => new Promise<never>(() => undefined));
  return !end.done && end.why === 'timeout';
}
