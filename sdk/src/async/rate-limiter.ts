import type { Clock } from '../clock.js';

export interface RateLimiter {
  /**
   * Counts a use by `key` within the window. Over the limit it counts nothing, and returns how long to wait, and whether this is the first
   * refusal since the last admitted use.
   * @param limit 0 for none
   */
  take(key: string, limit: number): { readonly waitMs: number; readonly isFirst: boolean } | undefined;
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
  return {
    take(key, limit) {
      if (limit === 0) return undefined;
      const now = clock.now();
      const known = used.get(key);
      const at = (known?.at ?? []).filter((one) => one > now - windowMs);
      if (at.length < limit) {
        keep(key, [...at, now], false);
        return undefined;
      }
      keep(key, at, true);
      return { waitMs: (at[at.length - limit] ?? now) + windowMs - now, isFirst: known?.isRefused !== true };
    },
  };
}
