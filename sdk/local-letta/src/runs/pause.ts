import type { Clock } from '@cinnabar/sdk';

/** Resolves after a time on the clock, or when the signal aborts. */
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

/** Suspended scripts. */
export interface Pauses {
  /** Resolves on release, or when the signal aborts. */
  stand(signal: AbortSignal): Promise<void>;
  /** Resolves as soon as that number of scripts is suspended. */
  hanging(count?: number): Promise<void>;
  release(): void;
}

export function createPauses(): Pauses {
  const standing = new Set<() => void>();
  const waiting = new Set<() => void>();
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
        for (const look of [...waiting]) look();
      }),
    hanging: (count = 1) =>
      new Promise((resolve) => {
        const look = () => {
          if (standing.size < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    release() {
      for (const go of [...standing]) go();
    },
  };
}
