import type { Clock, Logger } from '@cinnabar/sdk';
import { BrokenCircuitError, CircuitState, ConsecutiveBreaker, circuitBreaker, handleType } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import type { Attempt, Failure } from './providers/provider.js';
import { CANCELLED } from './retry.js';
import type { Vendor } from './vendors/source.js';

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

const FAILURES_IN_A_ROW = 5;
const PAUSE_MS = 30_000;

/** Keeps requests from a model that does not answer, so that people hear at once, and one probe at a time finds out when it is back. */
interface Breaker {
  /** For status lines: `answers`, or what is the matter. */
  readonly state: string;
  /** Whether it keeps requests away, but for a probe. */
  readonly isOpen: boolean;
  run<R>(attempt: () => Promise<Attempt<R>>): Promise<Attempt<R>>;
}

/** A vendor's failure on its way through the policy. */
class VendorFailed extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.code);
    this.failure = failure;
  }
}

/**
 * Five failures in a row open it for half a minute; then one request is let through, and its outcome decides. A vendor that answers,
 * even if only to refuse or to ask for patience, is no failure.
 * @param onOpen hears of each time that it opens, after a probe that failed too
 */
export function createBreaker(
  vendor: string,
  clock: Clock,
  log: Logger,
  onOpen: () => void = () => undefined,
): Breaker {
  // The policy reads the wall clock. The pause is measured here, on the injected one; what is left to the policy is the counting and the probe.
  const policy = circuitBreaker(handleType(VendorFailed), {
    halfOpenAfter: 0,
    breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW),
  });
  let openUntilMs = 0;
  policy.onBreak(() => {
    openUntilMs = clock.now() + PAUSE_MS;
    log.warn('model vendor does not answer, left alone for a while', { vendor, ms: PAUSE_MS });
    onOpen();
  });
  policy.onReset(() => log.info('model vendor answers again', { vendor }));

  const paused = (): Attempt<never> => {
    const seconds = Math.max(1, Math.ceil((openUntilMs - clock.now()) / 1000));
    return { ok: false, failure: { code: 'CINNABAR_LLM_PAUSED', params: { seconds }, retry: false } };
  };
  const mustWait = () =>
    policy.state === CircuitState.HalfOpen || (policy.state === CircuitState.Open && clock.now() < openUntilMs);

  return {
    get isOpen() {
      return policy.state !== CircuitState.Closed;
    },
    get state() {
      if (policy.state === CircuitState.Closed) return 'answers';
      if (policy.state === CircuitState.HalfOpen) return 'is being tried again';
      const ms = openUntilMs - clock.now();
      return ms > 0
        ? `did not answer, is tried again in ${Math.ceil(ms / 1000)} s`
        : 'did not answer, is tried with the next request';
    },
    async run(attempt) {
      if (mustWait()) return paused();
      const probing = policy.state === CircuitState.Open;
      try {
        return await policy.execute(async () => {
          const result = await attempt();
          if (!result.ok && (isDown(result.failure) || (probing && showsNothing(result.failure)))) {
            throw new VendorFailed(result.failure);
          }
          return result;
        });
      } catch (error) {
        if (error instanceof BrokenCircuitError) return paused();
        if (!(error instanceof VendorFailed)) throw error;
        // A probe that was called off has shown nothing: the next request may be one.
        if (showsNothing(error.failure)) openUntilMs = clock.now();
        return { ok: false, failure: error.failure };
      }
    },
  };
}

function showsNothing(failure: Failure): boolean {
  return failure === CANCELLED || failure.inconclusive === true;
}

function isDown({ code, inconclusive }: Failure): boolean {
  if (inconclusive === true) return false;
  return code === 'CINNABAR_LLM_UNAVAILABLE' || code === 'CINNABAR_LLM_TIMEOUT';
}
