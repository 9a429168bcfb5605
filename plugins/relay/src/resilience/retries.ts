import type { Random } from '@cinnabar/sdk';

const RETRIES = 3;
const FIRST_DELAY_MS = 1_000;
/** A server that asks for more patience than this is asked earlier. */
const LONGEST_DELAY_MS = 5 * 60_000;

/**
 * How long to wait before what has failed `failures` times is tried again, `undefined` when it is not: 1, 2 and 4 seconds, each less up to
 * half by chance, so that what failed together does not come back together.
 *
 * No policy of a library's: those sleep in place, on the wall clock, while whoever waits here must not keep others from the agent's side.
 * @param askedMs what the server asks for, if it does
 */
export function retryDelayMs(failures: number, random: Random, askedMs = 0): number | undefined {
  if (failures > RETRIES) return undefined;
  const ms = FIRST_DELAY_MS * 2 ** (failures - 1);
  return Math.max(ms - (ms / 2) * random.next(), Math.min(askedMs, LONGEST_DELAY_MS));
}
