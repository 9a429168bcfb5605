import { type CircuitBreaker, type Clock, createCircuitBreaker, type Logger } from '@cinnabar/sdk';
import type { Delivery } from '../events/event.js';

const PAUSE_MS = 30_000;

export type Breakers = ReturnType<typeof createBreakers>;

/**
 * A circuit breaker for each agent, so that one that is down does not silence the others. Five failures in a row open it for half a minute.
 * @param onOpen called each time that one opens, with the global name of its agent
 */
export function createBreakers(clock: Clock, log: Logger, onOpen: (agent: string) => void = () => undefined) {
  const breakers = new Map<string, CircuitBreaker>();
  return {
    /** @param agent its global name: its server and its id there */
    for(agent: string): CircuitBreaker {
      const known = breakers.get(agent);
      if (known !== undefined) return known;
      const breaker = createCircuitBreaker(clock, {
        pauseMs: PAUSE_MS,
        onOpen() {
          log.warn('agent does not answer, left alone for a while', { agent, ms: PAUSE_MS });
          onOpen(agent);
        },
        onClose: () => log.info('agent answers again', { agent }),
      });
      breakers.set(agent, breaker);
      return breaker;
    },
    /** Every agent with an attempt so far. */
    list: (): readonly (readonly [agent: string, breaker: CircuitBreaker])[] => [...breakers],
  };
}

/** An agent that answers, even if only to refuse, is no failure. */
export function verdictOf(delivery: Delivery): 'success' | 'failure' {
  return delivery.status === 'failed' && delivery.retry ? 'failure' : 'success';
}
