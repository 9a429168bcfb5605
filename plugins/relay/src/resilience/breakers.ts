import type { Clock, Logger } from '@cinnabar/sdk';
import { type Breaker, createBreaker } from './breaker.js';

/** One breaker an agent, so that one that is down does not silence the others. */
export interface Breakers {
  /** @param agent what names it in the whole world: its server and its id there */
  for(agent: string): Breaker;
}

export function createBreakers(clock: Clock, log: Logger): Breakers {
  const breakers = new Map<string, Breaker>();
  return {
    for(agent) {
      const known = breakers.get(agent) ?? createBreaker(agent, clock, log);
      breakers.set(agent, known);
      return known;
    },
  };
}
