/** Which requests a fault hits, and how often. */
export interface RestFaultMatch {
  /** All methods unless told. */
  method?: string;
  /** A route as Discord documents it (`/channels/:channelId/messages`), or a pattern for the path; all unless told. */
  route?: string | RegExp;
  /** How many requests; 1 unless told. `Infinity` until cleared. */
  times?: number;
}

/** What happens to a request that is hit. */
export type RestFault =
  | { kind: 'status'; status: number; body: object; headers: Record<string, string>; afterEffect: boolean }
  | { kind: 'drop'; afterEffect: boolean }
  | { kind: 'hold'; until: Promise<void> };

interface Armed {
  match: RestFaultMatch;
  left: number;
  fault: RestFault;
}

/** Makes the REST API misbehave, a number of requests at a time. */
export class RestFaults {
  /** Added to every answer, in real milliseconds. */
  latencyMs = 0;
  readonly #armed: Armed[] = [];

  /**
   * Answers with a status such as 500, 502 or 503.
   * With `afterEffect` the request is carried out first: what a proxy that fails on the way back looks like.
   */
  fail(status: number, match: RestFaultMatch & { afterEffect?: boolean; body?: object } = {}): void {
    const body = match.body ?? { message: `${status}: Injected fault`, code: 0 };
    this.#arm(match, { kind: 'status', status, body, headers: {}, afterEffect: match.afterEffect ?? false });
  }

  /** Answers 429, for the route or for everything. */
  rateLimit(match: RestFaultMatch & { retryAfterMs?: number; global?: boolean } = {}): void {
    const seconds = (match.retryAfterMs ?? 10) / 1_000;
    const global = match.global ?? false;
    const headers = {
      'retry-after': String(seconds),
      'x-ratelimit-scope': global ? 'global' : 'user',
      ...(global ? { 'x-ratelimit-global': 'true' } : {}),
    };
    const body = { message: 'You are being rate limited.', retry_after: seconds, global };
    this.#arm(match, { kind: 'status', status: 429, body, headers, afterEffect: false });
  }

  /** Cuts the connection without an answer; with `afterEffect` when the request has been carried out. */
  drop(match: RestFaultMatch & { afterEffect?: boolean } = {}): void {
    this.#arm(match, { kind: 'drop', afterEffect: match.afterEffect ?? false });
  }

  /** Answers nothing until the returned function is called; then the request goes on as usual. `settled()` does not wait for it. */
  hold(match: RestFaultMatch = {}): () => void {
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#arm(match, { kind: 'hold', until });
    return release;
  }

  /** Ends all faults and the latency. */
  clear(): void {
    this.#armed.length = 0;
    this.latencyMs = 0;
  }

  /** The fault for a request, if one is armed; called by the server. */
  take(method: string, route: string, path: string): RestFault | undefined {
    const armed = this.#armed.find((one) => matches(one.match, method, route, path));
    if (!armed) return undefined;
    armed.left -= 1;
    if (armed.left <= 0) this.#armed.splice(this.#armed.indexOf(armed), 1);
    return armed.fault;
  }

  #arm(match: RestFaultMatch, fault: RestFault): void {
    this.#armed.push({ match, left: match.times ?? 1, fault });
  }
}

function matches(match: RestFaultMatch, method: string, route: string, path: string): boolean {
  if (match.method !== undefined && match.method !== method) return false;
  if (match.route === undefined) return true;
  return typeof match.route === 'string' ? match.route === route : match.route.test(path);
}
