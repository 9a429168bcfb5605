import type { Clock } from '../clock.js';
import { linkSignals } from './signals.js';

export interface Deadline {
  /** Aborts when time is up, or when one of the signals does, for its reason. */
  readonly signal: AbortSignal;
  /** Whether it was the time. */
  readonly isUp: boolean;
  end(): void;
}

/** Ends work after `afterMs`. Leaves neither a timer nor a listener behind once it is ended itself. */
export function createDeadline(clock: Clock, afterMs: number, signals: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  let isUp = false;
  const linked = linkSignals(...signals, controller.signal);
  const cancel = clock.after(afterMs, () => {
    isUp = true;
    controller.abort();
  });
  return {
    signal: linked.signal,
    get isUp() {
      return isUp;
    },
    end() {
      cancel();
      linked.release();
    },
  };
}
