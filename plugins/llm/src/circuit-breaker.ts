import { type Clock, createCircuitBreaker, type Logger, t, type Verdict } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import { CANCELLED } from './attempt.js';
import type { Attempt } from './providers/provider.js';
import type { Vendor } from './vendors.js';

/** One breaker for each model at each vendor, address and key: a fault of one model or key does not block the others. */
export interface Breakers {
  for(vendor: Server, model: string): Breaker;
  /** For status lines: `answers`, or the models that do not answer. */
  stateOf(vendor: Server): string;
  /** Every model that was used in this process. */
  list(): readonly { readonly vendor: string; readonly model: string; readonly breaker: Breaker }[];
}

type Server = Pick<Vendor, 'name' | 'source'>;

/** More models than are in use: the oldest belong to previous settings. */
const MOST_KEPT = 500;

interface Kept {
  readonly place: string;
  readonly vendor: string;
  readonly model: string;
  readonly breaker: Breaker;
}

/** @param onOpen called each time when a breaker opens */
export function createBreakers(
  clock: Clock,
  log: Logger,
  onOpen: (vendor: string, model: string) => void = () => undefined,
): Breakers {
  const breakers = new LRUCache<string, Kept>({ max: MOST_KEPT });
  // Another address is another server, and another key another account. The string contains keys, and stays in memory.
  const placeOf = ({ name, source }: Server) => `${name} ${JSON.stringify(source)}`;
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
const PAUSE_MS = 30_000;

/** Blocks requests to a model that does not answer: they fail at once, and one probe at a time finds out when it works again. */
interface Breaker {
  /** For status lines: `answers`, or the problem. */
  readonly state: string;
  /** Whether it is open, and admits only a probe. */
  readonly isOpen: boolean;
  /** Whether it would block a request at the moment. */
  readonly refuses: boolean;
  run<R>(attempt: () => Promise<Attempt<R>>): Promise<Attempt<R>>;
}

/**
 * A circuit breaker for a model. A response of the vendor, even a refusal or a rate limit, does not count as a failure.
 * @param onOpen called each time when it opens, also after a failed probe
 */
export function createBreaker(
  vendor: string,
  clock: Clock,
  log: Logger,
  onOpen: () => void = () => undefined,
): Breaker {
  const circuit = createCircuitBreaker(clock, {
    pauseMs: PAUSE_MS,
    onOpen() {
      log.warn('model vendor does not answer, left alone for a while', { vendor, ms: PAUSE_MS });
      onOpen();
    },
    onClose: () => log.info('model vendor answers again', { vendor }),
  });
  return {
    get isOpen() {
      return circuit.state !== 'closed';
    },
    get refuses() {
      return clock.now() < circuit.admitsAt;
    },
    get state() {
      if (circuit.state === 'closed') return ANSWERS;
      if (circuit.state === 'half-open') return t('is being tried again');
      const ms = circuit.admitsAt - clock.now();
      return ms > 0
        ? t('did not answer, is tried again in {seconds} s', { seconds: Math.ceil(ms / 1000) })
        : t('did not answer, is tried with the next request');
    },
    async run(attempt) {
      if (clock.now() >= circuit.admitsAt) return circuit.run(attempt, verdictOn);
      const seconds = circuit.state === 'half-open' ? 1 : Math.ceil((circuit.admitsAt - clock.now()) / 1000);
      return { ok: false, failure: { code: 'CINNABAR_LLM_PAUSED', params: { seconds }, retry: false } };
    },
  };
}

function verdictOn(attempt: Attempt<unknown>): Verdict {
  if (attempt.ok) return 'success';
  const { failure } = attempt;
  if (failure === CANCELLED || failure.inconclusive === true) return 'inconclusive';
  const isDown = failure.code === 'CINNABAR_LLM_UNAVAILABLE' || failure.code === 'CINNABAR_LLM_TIMEOUT';
  return isDown ? 'failure' : 'success';
}
