import type { ModelPrice } from '@cinnabar/sdk';
import type { Ttl } from '../memory.js';

/** What a token of the prompt costs, in those of a fresh one. */
export interface Multipliers {
  readonly read: number;
  readonly write: Readonly<Record<Ttl, number>>;
}

/** Anthropic's, for models whose price is not known. */
const USUAL: Multipliers = { read: 0.1, write: { '5m': 1.25, '1h': 2 } };

export function multipliersOf(price: ModelPrice | undefined): Multipliers {
  if (price === undefined || price.input === 0) return USUAL;
  const { input, cacheRead, cacheWrite5m, cacheWrite1h } = price;
  return { read: cacheRead / input, write: { '5m': cacheWrite5m / input, '1h': cacheWrite1h / input } };
}
