import type { Clock } from '../clock.js';

export interface Deadline {
  /** Aborts when time is up, or when one of the signals does. */
  readonly signal: AbortSignal;
  /** Whether it was the time. */
  readonly isUp: boolean;
  end(): void;
}

/** Ends work after `afterMs`. Leaves neither a timer nor a listener behind once it is ended itself. */
export function createDeadline(clock: Clock, afterMs: number, signals: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  let isUp = false;
  const abort = () => controller.abort();
  const cancel = clock.after(afterMs, () => {
    isUp = true;
    abort();
  });
  for (const signal of signals) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  }
  return {
    signal: controller.signal,
    get isUp() {
      return isUp;
    },
    end() {
      cancel();
      for (const signal of signals) signal.removeEventListener('abort', abort);
    },
  };
}
