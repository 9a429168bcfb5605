import type { Clock } from '../clock.js';

export interface RateLimiter {
  /**
   * Counts a use by `key` within the window. Over the limit it counts nothing, and returns how long to wait, and whether this is the first
   * refusal since the last admitted use.
   * @param limit 0 for none
   */
  take(key: string, limit: number): { readonly waitMs: number; readonly isFirst: boolean } | undefined;
  /** Forgets the keys without a use in the window. Call it now and then where keys are many. */
  sweep(): void;
}

/** A sliding window for each key. */
export function createRateLimiter(clock: Clock, windowMs: number): RateLimiter {
  const used = new Map<string, { readonly at: readonly number[]; readonly isRefused: boolean }>();
  const recent = (key: string) => (used.get(key)?.at ?? []).filter((at) => at > clock.now() - windowMs);
  return {
    take(key, limit) {
      if (limit === 0) return undefined;
      const at = recent(key);
      if (at.length < limit) {
        used.set(key, { at: [...at, clock.now()], isRefused: false });
        return undefined;
      }
      const isFirst = used.get(key)?.isRefused !== true;
      used.set(key, { at, isRefused: true });
      return { waitMs: (at[at.length - limit] ?? clock.now()) + windowMs - clock.now(), isFirst };
    },
    sweep() {
      for (const key of [...used.keys()]) if (recent(key).length === 0) used.delete(key);
    },
  };
}
