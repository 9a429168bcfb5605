import type { Clock, Logger } from '@cinnabar/sdk';
import type { Vendor } from '../vendors/source.js';
import { type Breaker, createBreaker } from './breaker.js';

/** One breaker a vendor, so that one that is down does not silence the others. */
export interface Breakers {
  for(vendor: Vendor): Breaker;
}

export function createBreakers(clock: Clock, log: Logger): Breakers {
  const breakers = new Map<string, Breaker>();
  return {
    for({ name, source }) {
      // Another address is another server.
      const key = `${name} ${source.provider === 'offline' ? '' : source.baseUrl}`;
      const known = breakers.get(key) ?? createBreaker(name, clock, log);
      breakers.set(key, known);
      return known;
    },
  };
}
