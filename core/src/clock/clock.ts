import { randomBytes } from 'node:crypto';
import type { Clock, Random } from '@cinnabar/sdk';

/** setTimeout counts in 32 bits; longer delays are split. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's clock. Its timers do not keep the process alive by themselves; the gateway does. */
export function createSystemClock(): Clock {
  return {
    now: Date.now,
    after(delayMs, task) {
      let timer: NodeJS.Timeout;
      const wait = (leftMs: number) => {
        const stepMs = Math.min(leftMs, LONGEST_TIMER_MS);
        timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : task()), stepMs);
        timer.unref();
      };
      wait(Math.max(0, delayMs));
      return () => clearTimeout(timer);
    },
  };
}

/** The machine's random numbers. Ids have 26 characters: the time, then 80 random bits, so that they sort by time. */
export function createSystemRandom(clock: Clock): Random {
  return {
    next: Math.random,
    id: () =>
      clock.now().toString(36).padStart(10, '0') +
      BigInt(`0x${randomBytes(10).toString('hex')}`)
        .toString(36)
        .padStart(16, '0'),
  };
}

/** A clock that runs by itself and can be moved forward, for the console's `wait 61s`. */
export interface ShiftableClock extends Clock {
  /** How far it is ahead of its base. */
  readonly aheadMs: number;
  /**
   * Moves time forward, running what falls due on the way, in order. After each stop it waits for the work that timers started, so that no deadline passes
   * before an answer that has arrived is read.
   * @param settled resolves when everything that followed from the timers has happened
   */
  advance(byMs: number, settled: () => Promise<void>): Promise<void>;
}

interface Waiting {
  readonly due: number;
  readonly task: () => void;
  cancel: () => void;
}

/** Maximum number of stops in one move of the clock. */
const MOST_STOPS = 500;

/**
 * @param base the clock that it runs on
 * @param aheadMs how far ahead of it to begin
 */
export function createShiftableClock(base: Clock, aheadMs = 0): ShiftableClock {
  const waiting = new Set<Waiting>();
  let shiftMs = aheadMs;
  const now = () => base.now() + shiftMs;

  const arm = (entry: Waiting) => {
    entry.cancel = base.after(entry.due - now(), () => {
      waiting.delete(entry);
      entry.task();
    });
  };
  const dueUntil = (until: number) => [...waiting].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due);

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
    get aheadMs() {
      return shiftMs;
    },
    async advance(byMs, settled) {
      const until = now() + byMs;
      // Over long times, timers that repeat every few seconds run in batches: otherwise a year would take hours.
      const windowMs = Math.floor(byMs / MOST_STOPS);
      for (let first = dueUntil(until)[0]; first !== undefined; first = dueUntil(until)[0]) {
        const stop = Math.min(until, Math.max(first.due, now()) + windowMs);
        // Timers that these set wait for the next stop.
        for (const entry of dueUntil(stop)) {
          if (!waiting.delete(entry)) continue;
          entry.cancel();
          shiftMs += Math.max(0, entry.due - now());
          entry.task();
        }
        await settled();
        shiftMs += Math.max(0, stop - now());
      }
      shiftMs += Math.max(0, until - now());
      for (const entry of waiting) {
        entry.cancel();
        arm(entry);
      }
    },
  };
}
