import { clearTimeout, setTimeout } from 'node:timers';

/** The real timers, saved before a test replaces them: a limit of real waiting time must not depend on a fake clock. */
const startTimer = setTimeout;
const stopTimer = clearTimeout;

/** Default time limit for a bot, in real time: long enough for a busy machine. Only a failing test waits that long. */
export const PATIENCE_MS = 10_000;

/** Promises that one call resolves. */
interface Waiters {
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

/** Waits in real time, also while a test fakes timers. */
export function realDelay(ms: number): Promise<void> {
  return new Promise((resolve) => startTimer(resolve, ms));
}
