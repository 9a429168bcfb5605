import type { Clock, Logger } from '@cinnabar/sdk';
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleType } from 'cockatiel';
import type { Delivery } from '../types.js';

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

const FAILURES_IN_A_ROW = 5;
const PAUSE_MS = 30_000;

/** Keeps events from an agent that does not answer; one of them at a time finds out whether it does again. */
export interface Breaker {
  /** For status lines: `answers`, or what is the matter. */
  readonly state: string;
  /** From when it may be asked, in milliseconds since the Unix epoch: 0 while it answers, `Infinity` while somebody finds out. */
  readonly admitsAt: number;
  /** Whether the next attempt is the one that finds out. */
  readonly probing: boolean;
  /** To be called without waiting for anything between the look at `admitsAt` and this. What `attempt` throws is thrown, and counts for nothing. */
  run(attempt: () => Promise<Delivery>): Promise<Delivery>;
}

/** A failure on its way through the policy. */
class DeliveryFailed extends Error {
  readonly delivery: Delivery;
  constructor(delivery: Delivery) {
    super('the delivery failed');
    this.delivery = delivery;
  }
}

/**
 * Five failures in a row open it for half a minute; then one attempt is let through, and its outcome decides. An agent that answers, even
 * if only to refuse, is no failure.
 * @param onOpen hears of each time that it opens, after a probe that failed too
 */
function createBreaker(agent: string, clock: Clock, log: Logger, onOpen: () => void = () => undefined): Breaker {
  // The policy reads the wall clock. The pause is measured here, on the injected one; what is left to the policy is the counting and the probe.
  const policy = circuitBreaker(handleType(DeliveryFailed), {
    halfOpenAfter: 0,
    breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW),
  });
  let openUntil = 0;
  policy.onBreak(() => {
    openUntil = clock.now() + PAUSE_MS;
    log.warn('agent does not answer, left alone for a while', { agent, ms: PAUSE_MS });
    onOpen();
  });
  policy.onReset(() => log.info('agent answers again', { agent }));

  return {
    get state() {
      if (policy.state === CircuitState.Closed) return 'answers';
      if (policy.state === CircuitState.HalfOpen) return 'is being tried again';
      const ms = openUntil - clock.now();
      return ms > 0
        ? `did not answer, is tried again in ${Math.ceil(ms / 1000)} s`
        : 'did not answer, is tried with the next message';
    },
    get admitsAt() {
      if (policy.state === CircuitState.Closed) return 0;
      return policy.state === CircuitState.HalfOpen ? Number.POSITIVE_INFINITY : openUntil;
    },
    get probing() {
      return policy.state === CircuitState.Open;
    },
    async run(attempt) {
      try {
        return await policy.execute(async () => {
          const delivery = await attempt();
          if (delivery.status === 'failed' && delivery.retry) throw new DeliveryFailed(delivery);
          return delivery;
        });
      } catch (error) {
        if (error instanceof DeliveryFailed) return error.delivery;
        throw error;
      }
    },
  };
}
