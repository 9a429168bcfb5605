import type { Clock } from '@cinnabar/sdk';

/** Ten milliseconds are a second: so a run with retries and rate limits is over in a moment. */
const TIMES = 100;

export function createFastClock(): Clock {
  const startedAt = Date.now();
  return {
    now: () => startedAt + (Date.now() - startedAt) * TIMES,
    after(delayMs, task) {
      const timer = setTimeout(task, delayMs / TIMES);
      return () => clearTimeout(timer);
    },
  };
}
