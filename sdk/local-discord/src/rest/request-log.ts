import { channel } from 'node:diagnostics_channel';

/** One REST request of a client, with the response. */
export interface LoggedRequest {
  readonly method: string;
  /** As it came, without host and `/api/v10`: `/channels/1/messages`. */
  readonly path: string;
  /** As Discord documents it: `/channels/:channelId/messages`. */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Names of the uploaded files. */
  readonly files: readonly string[];
  /** The audit-log reason, decoded. */
  readonly reason: string | undefined;
  readonly status: number;
  /** By the injected clock. */
  readonly at: number;
}

const KEPT = 10_000;

/** The clients' requests, oldest first. The newest 10,000 are kept. */
export class RequestLog {
  /** Turn it off if thousands of requests are made per second. */
  enabled = true;
  readonly #entries: LoggedRequest[] = [];

  get all(): readonly LoggedRequest[] {
    return this.#entries;
  }

  /** Those of one method and one route, as in `LoggedRequest.route`. */
  of(method: string, route: string): LoggedRequest[] {
    return this.#entries.filter((entry) => entry.method === method && entry.route === route);
  }

  add(entry: LoggedRequest): void {
    if (!this.enabled) return;
    this.#entries.push(entry);
    if (this.#entries.length > 2 * KEPT) this.#entries.splice(0, KEPT);
  }

  reset(): void {
    this.#entries.length = 0;
  }
}

/** One REST request with its answer, as it went over the wire. */
export interface RestExchange {
  readonly method: string;
  /** As Discord documents it: `/channels/:channelId/messages`. */
  readonly route: string;
  /** The names of the query parameters that came along. */
  readonly query: readonly string[];
  /** The JSON body; of a form with files its `payload_json`. */
  readonly requestBody: unknown;
  /** Missing if an injected fault replaced it. */
  readonly response: { readonly status: number; readonly body?: unknown } | undefined;
}

/** The name of the diagnostics channel on which every local Discord of the process publishes each `RestExchange`. */
export const REST_EXCHANGES = 'cinnabar:local-discord:rest';

const exchanges = channel(REST_EXCHANGES);

/** Publishes an exchange; costs next to nothing while there are no subscribers. */
export function publishExchange(exchange: () => RestExchange): void {
  if (exchanges.hasSubscribers) exchanges.publish(exchange());
}
