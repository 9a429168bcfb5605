import type { Method } from './http/request.js';

/** Which requests a fault hits. By default the next one, whatever it is. */
export interface FaultTarget {
  readonly method?: Method;
  /** As in the routes: `/v1/agents/:agentId/messages`. */
  readonly route?: string;
  readonly times?: number;
  /** The request is carried out, but its answer is lost. */
  readonly afterEffect?: boolean;
}

export interface FailureFault extends FaultTarget {
  readonly detail?: string;
  /** Sent as `retry-after`. */
  readonly retryAfterSeconds?: number;
}

/** Misbehaving on purpose. */
export interface LettaFaults {
  /** Requests are answered with this status. */
  fail(status: number, options?: FailureFault): void;
  /** Connections are cut without an answer. */
  drop(options?: FaultTarget): void;
  clear(): void;
}

/** A fault that has struck; `null` for the status is a connection that is cut. */
export interface Strike extends Omit<FailureFault, 'times'> {
  readonly status: number | null;
}

export function createFaults(): LettaFaults & { strike(method: string, route: string): Strike | undefined } {
  const waiting: { readonly strike: Strike; times: number }[] = [];
  const add = (status: number | null, { times = 1, ...options }: FailureFault = {}) => {
    waiting.push({ strike: { ...options, status }, times });
  };
  return {
    fail: add,
    drop: (options) => add(null, options),
    clear: () => void waiting.splice(0),
    strike(method, route) {
      const hit = waiting.find(
        ({ strike, times }) => times > 0 && (strike.method ?? method) === method && (strike.route ?? route) === route,
      );
      if (hit === undefined) return undefined;
      hit.times -= 1;
      return hit.strike;
    },
  };
}
