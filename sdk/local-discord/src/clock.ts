/** Where the local Discord reads the time (milliseconds since 1970). Ids, rate limits, the 3-second rule and token lifetimes follow it. */
export interface Clock {
  now(): number;
}

/** The computer's own clock. */
export const systemClock: Clock = { now: () => Date.now() };
