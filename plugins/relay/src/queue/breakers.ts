import { type Clock, createCircuitBreaker, type Logger } from '@cinnabar/sdk';
import type { Delivery } from '../types.js';

/** One breaker for each agent, so that one that is down does not block the others. */
export interface Breakers {
  /** @param agent its server and its id there */
  for(agent: string): Breaker;
  /** Every agent that was asked so far. */
  list(): readonly (readonly [agent: string, breaker: Breaker])[];
}

/** @param onOpen called each time that one opens */
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

const PAUSE_MS = 30_000;

/** Keeps events from an agent that does not answer; one of them at a time finds out whether it answers again. */
export interface Breaker {
  /** For status lines: `answers`, or what is the matter. */
  readonly state: string;
  /** From when it may be asked, in milliseconds since the Unix epoch: 0 while it answers, `Infinity` during a probe. */
  readonly admitsAt: number;
  /** Whether the next attempt is a probe. */
  readonly probing: boolean;
  /** Call it in the same tick in which `admitsAt` was checked. An error of `attempt` is thrown, and counts for nothing. */
  run(attempt: () => Promise<Delivery>): Promise<Delivery>;
}

/**
 * An agent that answers, even if only to refuse, is no failure.
 * @param onOpen called each time that it opens, also after a failed probe
 */
function createBreaker(agent: string, clock: Clock, log: Logger, onOpen: () => void = () => undefined): Breaker {
  const circuit = createCircuitBreaker(clock, {
    pauseMs: PAUSE_MS,
    onOpen() {
      log.warn('agent does not answer, left alone for a while', { agent, ms: PAUSE_MS });
      onOpen();
    },
    onClose: () => log.info('agent answers again', { agent }),
  });
  return {
    get state() {
      if (circuit.state === 'closed') return 'answers';
      if (circuit.state === 'half-open') return 'is being tried again';
      const ms = circuit.admitsAt - clock.now();
      return ms > 0
        ? `did not answer, is tried again in ${Math.ceil(ms / 1000)} s`
        : 'did not answer, is tried with the next message';
    },
    get admitsAt() {
      return circuit.admitsAt;
    },
    get probing() {
      return circuit.state === 'open';
    },
    run: (attempt) =>
      circuit.run(attempt, (delivery) => (delivery.status === 'failed' && delivery.retry ? 'failure' : 'success')),
  };
}
