import type { Clock } from './state/events.js';

const DISCORD_EPOCH = 1_420_070_400_000;
const IDS_PER_MS = 4_194_304n;

/** Creates ids that sort by age and contain the injected clock's time, as Discord's do. */
export function createSnowflakes(clock: Clock): () => string {
  let last = 0n;
  return () => {
    const fromClock = BigInt(Math.max(0, clock.now() - DISCORD_EPOCH)) * IDS_PER_MS;
    last = fromClock > last ? fromClock : last + 1n;
    return last.toString();
  };
}

/** The smallest snowflake of a time, for "older than" comparisons. */
export function snowflakeAt(timeMs: number): bigint {
  return BigInt(Math.max(0, timeMs - DISCORD_EPOCH)) * IDS_PER_MS;
}

/** Negative when `a` is older. Ids are decimal numbers without leading zeros, so length decides first. */
export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
