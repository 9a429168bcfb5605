import type { Clock } from '../clock.js';

export interface RateLimiter {
  /**
   * Counts a use by `key` within the window. Over the limit it counts nothing, and returns how long to wait, and whether this is the first
   * refusal since the last admitted use.
   * @param limit 0 for none
   */
  take(key: string, limit: number): { readonly waitMs: number; readonly isFirst: boolean } | undefined;
  /** How long a use by `key` would have to wait now, 0 when it would not. Counts nothing. */
  waitMs(key: string, limit: number): number;
}

/** A sliding window for each key. @param maxKeys when there are more, the key that was unused for longest starts anew */
export function createRateLimiter(clock: Clock, windowMs: number, maxKeys = 10_000): RateLimiter {
  const used = new Map<string, { readonly at: readonly number[]; readonly isRefused: boolean }>();
  const keep = (key: string, at: readonly number[], isRefused: boolean) => {
    used.delete(key);
    used.set(key, { at, isRefused });
    const [oldest] = used.keys();
    if (used.size > maxKeys && oldest !== undefined) used.delete(oldest);
  };
  const recentOf = (key: string, now: number) => (used.get(key)?.at ?? []).filter((one) => one > now - windowMs);
  /** @param at the uses that count, of which there are at least `limit` */
  const wait = (at: readonly number[], limit: number, now: number) => (at[at.length - limit] ?? now) + windowMs - now;
  return {
    take(key, limit) {
      if (limit === 0) return undefined;
      const now = clock.now();
      const isRefused = used.get(key)?.isRefused === true;
      const at = recentOf(key, now);
      if (at.length < limit) {
        keep(key, [...at, now], false);
        return undefined;
      }
      keep(key, at, true);
      return { waitMs: wait(at, limit, now), isFirst: !isRefused };
    },
    waitMs(key, limit) {
      const now = clock.now();
      const at = limit === 0 ? [] : recentOf(key, now);
      return at.length === 0 || at.length < limit ? 0 : wait(at, limit, now);
    },
  };
}

/** What an attempt shows about the service behind the breaker. `inconclusive`: nothing, as when the caller cancelled it. */
export type Verdict = 'success' | 'failure' | 'inconclusive';

export interface CircuitBreakerOptions {
  /** Failures in a row that open it; 5 unless given. */
  readonly failures?: number;
  /** How long it stays open before an attempt is admitted as a probe; 30 s unless given. */
  readonly pauseMs?: number;
  /** Called each time that it opens, also after a failed probe. */
  readonly onOpen?: () => void;
  readonly onClose?: () => void;
}

/** Keeps attempts from a service that fails, and lets one at a time find out whether it works again. */
export interface CircuitBreaker {
  /** `half-open` while a probe is under way. */
  readonly state: 'closed' | 'open' | 'half-open';
  /** From when an attempt is admitted, in milliseconds since the Unix epoch: 0 while closed, `Infinity` during a probe. */
  readonly admitsAt: number;
  /**
   * Runs an attempt and counts what it shows. An error that it throws is thrown on, and is inconclusive: failures are results.
   * @throws CircuitOpenError before `admitsAt`
   */
  run<T>(attempt: () => Promise<T>, judge: (result: T) => Verdict): Promise<T>;
}

export class CircuitOpenError extends Error {
  override readonly name = 'CircuitOpenError';
}

/**
 * Counts on the injected clock, unlike the breakers of general libraries.
 * @example
 * const breaker = createCircuitBreaker(clock, { onOpen: () => log.warn('the agent does not answer') });
 * if (clock.now() >= breaker.admitsAt) await breaker.run(send, ({ ok }) => (ok ? 'success' : 'failure'));
 */
export function createCircuitBreaker(
  clock: Clock,
  { failures = 5, pauseMs = 30_000, onOpen, onClose }: CircuitBreakerOptions = {},
): CircuitBreaker {
  let failed = 0;
  let openUntil: number | undefined;
  let isProbing = false;

  const open = () => {
    openUntil = clock.now() + pauseMs;
    onOpen?.();
  };
  const countProbe = (verdict: Verdict) => {
    isProbing = false;
    if (verdict === 'failure') return open();
    if (verdict === 'inconclusive') {
      // The next attempt may be a probe at once.
      openUntil = clock.now();
      return;
    }
    openUntil = undefined;
    failed = 0;
    onClose?.();
  };
  const count = (verdict: Verdict) => {
    if (verdict === 'success') failed = 0;
    if (verdict !== 'failure') return;
    failed += 1;
    if (failed >= failures && openUntil === undefined) open();
  };
  const breaker: CircuitBreaker = {
    get state() {
      if (isProbing) return 'half-open';
      return openUntil === undefined ? 'closed' : 'open';
    },
    get admitsAt() {
      return isProbing ? Number.POSITIVE_INFINITY : (openUntil ?? 0);
    },
    async run(attempt, judge) {
      if (clock.now() < breaker.admitsAt) throw new CircuitOpenError('the circuit is open');
      const isProbe = openUntil !== undefined;
      isProbing ||= isProbe;
      let verdict: Verdict = 'inconclusive';
      try {
        const result = await attempt();
        verdict = judge(result);
        return result;
      } finally {
        if (isProbe) countProbe(verdict);
        else count(verdict);
      }
    },
  };
  return breaker;
}
