import { type Clock, createDeadline, type Logger, linkSignals, sleep, unlessAborted } from '@cinnabar/sdk';
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

/** Repeats an attempt as long as its failure allows it. Each repetition is logged. */
export async function withRetries<R>(rules: RetryRules, attempt: () => Promise<Attempt<R>>): Promise<Attempt<R>> {
  const { clock, retries, signals, log } = rules;
  for (let repetition = 1; ; repetition += 1) {
    const result = await attempt();
    if (result.ok || repetition > retries || !isWorthRepeating(result.failure, rules)) return result;
    const { code, status } = result.failure;
    const delayMs = pauseAfter(result.failure, rules);
    log.warn('model call failed, trying again', { attempt: repetition, of: retries, delayMs, code, status });
    const cancelled = linkSignals(...signals);
    const passed = await sleep(clock, delayMs, cancelled.signal);
    cancelled.release();
    if (!passed) return { ok: false, failure: CANCELLED };
  }
}

function pauseAfter({ retryAfterMs = 0 }: Failure, { retryDelayMs }: RetryRules): number {
  return Math.max(retryDelayMs, retryAfterMs);
}

function isWorthRepeating(failure: Failure, rules: RetryRules): boolean {
  return (
    failure.retry &&
    (failure.retryAfterMs ?? 0) <= LONGEST_WAIT_MS &&
    rules.clock.now() + pauseAfter(failure, rules) < rules.deadlineAt
  );
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
export async function within<T>(
  { clock, timeoutMs, signals }: Bounds,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<Bounded<T>> {
  const deadline = createDeadline(clock, timeoutMs, signals);
  try {
    if (deadline.signal.aborted) return { done: false, why: 'cancelled' };
    const end = await unlessAborted(task(deadline.signal), deadline.signal);
    if (end.inTime) return { done: true, value: end.value };
    return { done: false, why: deadline.isUp ? 'timeout' : 'cancelled' };
  } finally {
    deadline.end();
  }
}
