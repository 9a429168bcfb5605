/** A pseudo-random generator that is reproducible for a seed (mulberry32). */
export interface Chance {
  next(): number;
  below(count: number): number;
  pick<T>(from: readonly T[]): T;
  /** Returns `true` with this probability. */
  happens(probability: number): boolean;
}

export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    next,
    below,
    pick(from) {
      const one = from[below(from.length)];
      if (one === undefined) throw new RangeError('nothing to pick from');
      return one;
    },
    happens: (probability) => next() < probability,
  };
}
