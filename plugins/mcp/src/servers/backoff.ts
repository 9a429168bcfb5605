import type { Clock } from '@cinnabar/sdk';

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** Who has run for so long is not in a loop of crashes. */
const STABLE_MS = 60_000;

/** How long to wait before each new start: 1 s, 2 s, 4 s … 5 min, from the beginning again once it has run for a minute. */
export interface Backoff {
  next(): number;
  succeeded(): void;
  reset(): void;
}

export function createBackoff(clock: Clock): Backoff {
  let failures = 0;
  let upSince: number | undefined;
  return {
    next() {
      if (upSince !== undefined && clock.now() - upSince >= STABLE_MS) failures = 0;
      upSince = undefined;
      failures += 1;
      return Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
    },
    succeeded() {
      upSince = clock.now();
    },
    reset() {
      failures = 0;
      upSince = undefined;
    },
  };
}
