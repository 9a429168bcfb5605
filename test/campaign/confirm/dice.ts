/** A reproducible random generator: the same seed gives the same campaign. */
export interface Dice {
  /** At least 0, less than 1. */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number, including both limits. */
  between(least: number, most: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
}

/** A 32-bit xorshift with a Weyl sequence: short, and good enough to shuffle events. */
export function createDice(seed: number): Dice {
  let state = (seed | 0) ^ 0x2545f491;
  let weyl = 0;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    weyl = (weyl + 0x9e3779b9) | 0;
    return ((state + weyl) >>> 0) / 2 ** 32;
  };
  return {
    next,
    chance: (probability) => next() < probability,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick(from) {
      return from[Math.floor(next() * from.length)] ?? from[0];
    },
  };
}

/** A random item, with probabilities proportional to the weights. */
export function weighted<T>(dice: Dice, items: readonly (readonly [weight: number, item: T])[]): T | undefined {
  let left = dice.next() * items.reduce((sum, [weight]) => sum + weight, 0);
  return items.find(([weight]) => {
    left -= weight;
    return left < 0;
  })?.[1];
}
