import type { Clock } from '@cinnabar/sdk';

/** `undefined` when one more is within the limit, else how long to wait. */
export type RateLimit = (key: string, perMinute: number) => number | undefined;

const MINUTE_MS = 60_000;
const MOST_KEYS = 1_000;

/** Counts what each key does in a minute: a bucket that fills up again steadily. */
export function createRateLimit(clock: Clock): RateLimit {
  const buckets = new Map<string, { left: number; readonly at: number }>();
  return (key, perMinute) => {
    const now = clock.now();
    const known = buckets.get(key) ?? { left: perMinute, at: now };
    const left = Math.min(perMinute, known.left + ((now - known.at) / MINUTE_MS) * perMinute);
    buckets.delete(key);
    buckets.set(key, { left: left >= 1 ? left - 1 : left, at: now });
    const [oldest] = buckets.keys();
    if (buckets.size > MOST_KEYS && oldest !== undefined) buckets.delete(oldest);
    return left >= 1 ? undefined : Math.ceil(((1 - left) / perMinute) * MINUTE_MS);
  };
}
