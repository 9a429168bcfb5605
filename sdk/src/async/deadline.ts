import type { Clock } from '../clock.js';
import { linkSignals } from './signals.js';

export interface Deadline {
  /** Aborts when time is up, or when one of the signals does, for its reason. */
  readonly signal: AbortSignal;
  /** Whether it aborted because the time is up. */
  readonly isUp: boolean;
  /** Starts the time again, as after a sign of life. */
  restart(): void;
  end(): void;
}

/** A signal that ends work after `afterMs`. Leaves neither a timer nor a listener behind once `end` was called. */
export function createDeadline(clock: Clock, afterMs: number, signals: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  let isUp = false;
  const linked = linkSignals(...signals, controller.signal);
  const start = () =>
    clock.after(afterMs, () => {
      isUp = true;
      controller.abort();
    });
  let cancel = start();
  return {
    signal: linked.signal,
    get isUp() {
      return isUp;
    },
    restart() {
      cancel();
      if (!linked.signal.aborted) cancel = start();
    },
    end() {
      cancel();
      linked.release();
    },
  };
}
