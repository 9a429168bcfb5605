import type { Clock } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';

/** A clock that advances from timer to timer. */
export interface SteppedClock extends Clock {
  /** Time of the next timer. */
  readonly next: number | undefined;
  /** Advances to a time, running all timers until then. */
  moveTo(at: number): void;
}

export function steppedClock(): SteppedClock {
  const clock = createManualClock();
  const due = new Map<symbol, number>();
  return {
    now: clock.now,
    after(delayMs, task) {
      const timer = Symbol();
      due.set(timer, clock.now() + Math.max(0, delayMs));
      const cancel = clock.after(delayMs, () => {
        due.delete(timer);
        task();
      });
      return () => {
        due.delete(timer);
        cancel();
      };
    },
    get next() {
      return due.size === 0 ? undefined : Math.min(...due.values());
    },
    moveTo: (at) => clock.advance(Math.max(0, at - clock.now())),
  };
}
