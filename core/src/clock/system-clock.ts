import { randomBytes } from 'node:crypto';
import type { Clock, Random } from '@cinnabar/sdk';

/** setTimeout counts in 32 bits; anything longer is waited for in pieces. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's own time. Waiting timers keep the process alive only as long as the gateway does. */
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

/** The machine's own chance. Ids are 26 characters: the time, then 80 random bits, so that they sort by time. */
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
