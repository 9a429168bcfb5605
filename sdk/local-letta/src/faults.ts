import type { Method } from '@cinnabar/local-http';

/** Selects the requests that a fault affects. Default: the next one. */
export interface FaultTarget {
  readonly method?: Method;
  /** The route, as in `/v1/agents/:agentId/messages`. */
  readonly route?: string;
  readonly times?: number;
  /** Executes the request, but loses its response. */
  readonly afterEffect?: boolean;
}

export interface FailureFault extends FaultTarget {
  readonly detail?: string;
  /** Value of the header `retry-after`. */
  readonly retryAfterSeconds?: number;
}

/** Simulated faults. */
export interface LettaFaults {
  /** Responds to requests with this status. */
  fail(status: number, options?: FailureFault): void;
  /** Cuts connections without a response. */
  drop(options?: FaultTarget): void;
  clear(): void;
}

/** A fault that a request has triggered; a status of `null` cuts the connection. */
export interface TriggeredFault extends Omit<FailureFault, 'times'> {
  readonly status: number | null;
}

export function createFaults(): LettaFaults & { take(method: string, route: string): TriggeredFault | undefined } {
  const waiting: { readonly fault: TriggeredFault; times: number }[] = [];
  const add = (status: number | null, { times = 1, ...options }: FailureFault = {}) => {
    waiting.push({ fault: { ...options, status }, times });
  };
  return {
    fail: add,
    drop: (options) => add(null, options),
    clear: () => void waiting.splice(0),
    take(method, route) {
      const hit = waiting.find(
        ({ fault, times }) => times > 0 && (fault.method ?? method) === method && (fault.route ?? route) === route,
      );
      if (hit === undefined) return undefined;
      hit.times -= 1;
      return hit.fault;
    },
  };
}
