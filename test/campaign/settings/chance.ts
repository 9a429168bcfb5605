/** A reproducible random generator: the same seed gives the same campaign. */
export interface Chance {
  /** A whole number from 0, below `limit`. */
  below(limit: number): number;
  pick<const T>(from: readonly [T, ...T[]]): T;
}

/** Mulberry32: small, and good enough to choose test cases. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };
  return { below, pick: ([first, ...others]) => [first, ...others][below(others.length + 1)] ?? first };
}
