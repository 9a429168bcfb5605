import type { Clock, Logger } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { Vendor } from '../vendors/source.js';
import { type Breaker, createBreaker } from './breaker.js';

/**
 * One breaker for each model at each vendor, address and key: what is wrong with one model or one key keeps nobody from the others.
 */
export interface Breakers {
  for(vendor: Vendor, model: string): Breaker;
  /** For status lines: `answers`, or which models do not. */
  stateOf(vendor: Vendor): string;
  /** Every model that was asked so far. */
  list(): readonly { readonly vendor: string; readonly model: string; readonly breaker: Breaker }[];
}

/** More models than anybody uses: older ones are those of settings that have changed since. */
const MOST_KEPT = 500;

interface Kept {
  readonly place: string;
  readonly vendor: string;
  readonly model: string;
  readonly breaker: Breaker;
}

/** @param onOpen hears of each time that one opens */
export function createBreakers(
  clock: Clock,
  log: Logger,
  onOpen: (vendor: string, model: string) => void = () => undefined,
): Breakers {
  const breakers = new LRUCache<string, Kept>({ max: MOST_KEPT });
  // Another address is another server, another key another account. Keys stay in memory here, as they do with the provider.
  const placeOf = ({ name, source }: Vendor) => `${name} ${JSON.stringify(source)}`;
  return {
    for(vendor, model) {
      const place = placeOf(vendor);
      const key = `${place} ${model}`;
      const known = breakers.get(key);
      if (known !== undefined) return known.breaker;
      const breaker = createBreaker(vendor.name, clock, log.child({ model }), () => onOpen(vendor.name, model));
      breakers.set(key, { place, vendor: vendor.name, model, breaker });
      return breaker;
    },
    list: () => [...breakers.values()],
    stateOf(vendor) {
      const place = placeOf(vendor);
      const resting = [...breakers.values()].filter((kept) => kept.place === place && kept.breaker.state !== ANSWERS);
      if (resting.length === 0) return ANSWERS;
      return resting.map(({ model, breaker }) => `${model} ${breaker.state}`).join('; ');
    },
  };
}

const ANSWERS = 'answers';
