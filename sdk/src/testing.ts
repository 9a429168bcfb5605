import { AsyncResource } from 'node:async_hooks';
import type { Clock } from './clock.js';

/** A clock that moves only when a test advances it. */
export interface ManualClock extends Clock {
  /** Moves time forward. Timers run when they fall due, in order, with `now()` at their due time. */
  advance(byMs: number): void;
  /** Number of timers that have not run. */
  readonly pending: number;
}

/** @param startMs initial time, in milliseconds since 1970; a fixed day by default, so that tests do not depend on the current date */
export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startMs;
  let sequence = 0;
  const timers = new Map<number, { readonly due: number; readonly task: () => void }>();

  const nextDue = (until: number) => {
    let next: { readonly id: number; readonly due: number; readonly task: () => void } | undefined;
    for (const [id, timer] of timers) {
      if (timer.due <= until && (next === undefined || timer.due < next.due)) next = { id, ...timer };
    }
    return next;
  };

  return {
    now: () => now,
    after(delayMs, task) {
      const id = sequence++;
      // The task runs in the asynchronous context (the language, for instance) in which the timer was set, as with real timers. `AsyncResource.bind` is ten
      // times as slow.
      const setter = new AsyncResource('ManualTimer');
      timers.set(id, { due: now + Math.max(0, delayMs), task: () => setter.runInAsyncScope(task) });
      return () => void timers.delete(id);
    },
    advance(byMs) {
      const until = now + byMs;
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer.id);
        now = timer.due;
        timer.task();
      }
      now = until;
    },
    get pending() {
      return timers.size;
    },
  };
}
