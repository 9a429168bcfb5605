import type { Clock, Logger } from '@cinnabar/sdk';
import { type Breaker, createBreaker } from './breaker.js';

/** One breaker an agent, so that one that is down does not silence the others. */
export interface Breakers {
  /** @param agent what names it in the whole world: its server and its id there */
  for(agent: string): Breaker;
  /** Every agent that was asked so far. */
  list(): readonly (readonly [agent: string, breaker: Breaker])[];
}

/** @param onOpen hears of each time that one opens */
export function createBreakers(clock: Clock, log: Logger, onOpen: (agent: string) => void = () => undefined): Breakers {
  const breakers = new Map<string, Breaker>();
  return {
    for(agent) {
      const known = breakers.get(agent) ?? createBreaker(agent, clock, log, () => onOpen(agent));
      breakers.set(agent, known);
      return known;
    },
    list: () => [...breakers],
  };
}
