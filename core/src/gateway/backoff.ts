import type { Random } from '@cinnabar/sdk';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A connection that stayed ready for this long was sound: what ends it is not counted together with what came before. */
const SOUND_MS = 30_000;
/** A session that was resumed costs Discord little, and a slash command has to be answered within 3 s: pauses stay at most 2 s. */
const MOST_FAILURES_WHILE_RESUMING = 3;

/** How an attempt went: what decides the pause before the next one. */
export interface Attempt {
  /** How long it was ready; `undefined` when it never was. */
  readonly readyForMs: number | undefined;
  readonly resumed: boolean;
  /** It ended because a new session is due, on Discord's word or the host's: not a failure. */
  readonly renewing: boolean;
}

export interface Backoff {
  /** Milliseconds until the next attempt. */
  next(attempt: Attempt): number;
  /** Attempts in a row that did not lead to a sound connection. */
  readonly failures: number;
}

/**
 * The schedule of one shard. The first attempt after a sound connection comes at once, the next after 1 s, 2 s, 4 s … up to a minute,
 * each between half of that and all of it, so that shards that failed together do not come back together.
 */
export function createBackoff(random: Random): Backoff {
  let failures = 0;
  return {
    get failures() {
      return failures;
    },
    next({ readyForMs, resumed, renewing }) {
      if (renewing) return 0;
      if (readyForMs !== undefined && readyForMs >= SOUND_MS) failures = 0;
      failures += 1;
      if (readyForMs !== undefined && resumed) failures = Math.min(failures, MOST_FAILURES_WHILE_RESUMING);
      return failures === 1 ? 0 : spread(pauseAfter(failures - 1), random);
    },
  };
}

/** The longest pause after that many failures in a row, from 1. */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}

/** Between half of a pause and all of it. */
export function spread(pauseMs: number, random: Random): number {
  return pauseMs * (0.5 + random.next() / 2);
}
