import { clearTimeout, setTimeout } from 'node:timers';

/** Real timers, kept from before a test fakes the clock: a bound on real waiting must not depend on a fake one. */
const startTimer = setTimeout;
const stopTimer = clearTimeout;

/** How long the local Discord waits for a bot, in real time, unless told otherwise: long enough for a busy machine. Only a test that fails waits as long. */
export const PATIENCE_MS = 10_000;

/** Promises that are all released by one call. */
export interface Waiters {
  /** Rejects with the explanation after `timeoutMs` of real time. */
  wait(timeoutMs: number, explain: () => string): Promise<void>;
  release(): void;
}

export function createWaiters(): Waiters {
  const waiting = new Set<() => void>();
  return {
    wait: (timeoutMs, explain) =>
      new Promise((resolve, reject) => {
        const timer = startTimer(() => {
          waiting.delete(done);
          reject(new Error(explain()));
        }, timeoutMs);
        const done = () => {
          stopTimer(timer);
          resolve();
        };
        waiting.add(done);
      }),
    release: () => {
      const all = [...waiting];
      waiting.clear();
      for (const done of all) done();
    },
  };
}

/** Waits in real time, whatever the test does to timers. */
export function realDelay(ms: number): Promise<void> {
  return new Promise((resolve) => startTimer(resolve, ms));
}
