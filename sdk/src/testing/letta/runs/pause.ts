import type { Clock } from '../../../clock.js';

/** Resolves after the time on the clock, or when the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

/** Scripts that stand still. */
export interface Standing {
  /** Resolves on release, or when the signal aborts. */
  stand(signal: AbortSignal): Promise<void>;
  /** Resolves as soon as one stands still. */
  hanging(): Promise<void>;
  release(): void;
}

export function createStanding(): Standing {
  const standing = new Set<() => void>();
  let waiting: (() => void)[] = [];
  return {
    stand: (signal) =>
      new Promise((resolve) => {
        const go = () => {
          standing.delete(go);
          signal.removeEventListener('abort', go);
          resolve();
        };
        standing.add(go);
        signal.addEventListener('abort', go);
        if (signal.aborted) go();
        for (const tell of waiting) tell();
        waiting = [];
      }),
    hanging: () => (standing.size > 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    release() {
      for (const go of [...standing]) go();
    },
  };
}
