import type { Clock } from '@cinnabar/sdk';

/** Speed and start of a clock: two processes with the same pace always have the same time. */
export interface Pace {
  /** Speed, relative to the machine's clock. */
  readonly times: number;
  /** Start, in milliseconds since the Unix epoch. */
  readonly since: number;
}

/** A fast clock, with which a run with retries and rate limits ends soon. */
export function createFastClock({ times, since }: Pace): Clock {
  return {
    now: () => since + (Date.now() - since) * times,
    after(delayMs, task) {
      const timer = setTimeout(task, delayMs / times);
      return () => clearTimeout(timer);
    },
  };
}
