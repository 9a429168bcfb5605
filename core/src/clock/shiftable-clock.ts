import type { Clock } from '@cinnabar/sdk';

/** A clock that runs by itself and can be moved forward: the console's `wait 61s`. */
export interface ShiftableClock extends Clock {
  /** Moves time forward at once, running what falls due on the way, in order. */
  advance(byMs: number): void;
}

interface Waiting {
  readonly due: number;
  readonly task: () => void;
  cancel: () => void;
}

/** @param base the clock that it runs on */
export function createShiftableClock(base: Clock): ShiftableClock {
  const waiting = new Set<Waiting>();
  let shiftMs = 0;
  const now = () => base.now() + shiftMs;

  const arm = (entry: Waiting) => {
    entry.cancel = base.after(entry.due - now(), () => {
      waiting.delete(entry);
      entry.task();
    });
  };
  const earliest = (until: number) => [...waiting].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];

  return {
    now,
    after(delayMs, task) {
      const entry: Waiting = { due: now() + delayMs, task, cancel: () => undefined };
      waiting.add(entry);
      arm(entry);
      return () => {
        waiting.delete(entry);
        entry.cancel();
      };
    },
    advance(byMs) {
      const until = now() + byMs;
      for (let entry = earliest(until); entry !== undefined; entry = earliest(until)) {
        waiting.delete(entry);
        entry.cancel();
        shiftMs += Math.max(0, entry.due - now());
        entry.task();
      }
      shiftMs += Math.max(0, until - now());
      for (const entry of waiting) {
        entry.cancel();
        arm(entry);
      }
    },
  };
}
