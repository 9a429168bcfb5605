import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';

/** A manual clock with a function that waits for timers. */
export interface WatchedClock extends ManualClock {
  /** Resolves when a timer of that length has been set since the last call. */
  armed(delayMs: number): Promise<void>;
}

export function watchedClock(): WatchedClock {
  const clock = createManualClock();
  const seen: number[] = [];
  const watchers = new Set<() => void>();
  return {
    now: clock.now,
    advance: clock.advance,
    after(delayMs, task) {
      const cancel = clock.after(delayMs, task);
      seen.push(delayMs);
      for (const look of watchers) look();
      return cancel;
    },
    armed: (delayMs) =>
      new Promise((resolve) => {
        const look = () => {
          const at = seen.indexOf(delayMs);
          if (at < 0) return;
          seen.splice(at, 1);
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    get pending() {
      return clock.pending;
    },
  };
}
