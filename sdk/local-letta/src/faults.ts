import type { Method } from '@cinnabar/local-http';

/** Which requests a fault affects. Default: the next one. */
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

/** Simulated faults. */
export interface LettaFaults {
  /** Requests are answered with this status. */
  fail(status: number, options?: FailureFault): void;
  /** Connections are cut without an answer. */
  drop(options?: FaultTarget): void;
  clear(): void;
}

/** A fault that a request has triggered; `null` for the status is a connection that is cut. */
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
