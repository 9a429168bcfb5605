import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@cinnabar/sdk';

/** Timers within this time count as simultaneous. */
const GRAIN_MS = 0.25;

interface VirtualTime extends Clock {
  /** Advances the time as fast as possible, running the timers that fall due and the code that follows from them. */
  pass(ms: number): Promise<void>;
}

interface Timer {
  readonly due: number;
  readonly task: () => void;
  isCancelled: boolean;
}

/** A clock for many thousand timers per second, on which only waiting takes time. */
export function createVirtualTime(): VirtualTime {
  let now = 0;
  const heap = createHeap();

  return {
    now: () => now,
    after(delayMs, task) {
      const due = Math.ceil((now + Math.max(0, delayMs)) / GRAIN_MS) * GRAIN_MS;
      const timer: Timer = { due, task, isCancelled: false };
      heap.push(timer);
      return () => {
        timer.isCancelled = true;
      };
    },
    async pass(ms) {
      const until = now + ms;
      for (let first = heap.first(); first !== undefined && first.due <= until; first = heap.first()) {
        now = first.due;
        for (let next = heap.first(); next !== undefined && next.due <= now; next = heap.first()) {
          heap.shift();
          if (!next.isCancelled) next.task();
        }
        // Code that waits only for promises continues before the time advances.
        await setImmediate();
      }
      now = until;
    },
  };
}

/** A binary heap of timers, ordered by time. */
function createHeap() {
  const timers: Timer[] = [];
  const dueAt = (index: number) => timers[index]?.due ?? Number.POSITIVE_INFINITY;
  const swap = (one: number, other: number) => {
    const [first, second] = [timers[one], timers[other]];
    if (first === undefined || second === undefined) return;
    timers[one] = second;
    timers[other] = first;
  };
  return {
    first: () => timers[0],
    push(timer: Timer) {
      timers.push(timer);
      for (let at = timers.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (dueAt(parent) <= dueAt(at)) break;
        swap(parent, at);
        at = parent;
      }
    },
    shift() {
      swap(0, timers.length - 1);
      timers.pop();
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        const least = dueAt(right) < dueAt(left) ? right : left;
        if (dueAt(at) <= dueAt(least)) break;
        swap(at, least);
        at = least;
      }
    },
  };
}
