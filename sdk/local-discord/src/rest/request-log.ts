import { channel } from 'node:diagnostics_channel';

/** One REST request of a client, with the response. */
export interface LoggedRequest {
  readonly method: string;
  /** The path without host and `/api/v10`: `/channels/1/messages`. */
  readonly path: string;
  /** The route in Discord's documentation: `/channels/:channelId/messages`. */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Names of the uploaded files. */
  readonly files: readonly string[];
  /** The decoded audit-log reason. */
  readonly reason: string | undefined;
  readonly status: number;
  /** Time on the injected clock. */
  readonly at: number;
}

const KEPT = 10_000;

/** The clients' requests, oldest first. The newest 10,000 are kept. */
export class RequestLog {
  /** Set it to `false` when thousands of requests are made per second. */
  enabled = true;
  readonly #entries: LoggedRequest[] = [];

  get all(): readonly LoggedRequest[] {
    return this.#entries;
  }

  /** Requests of one method and one route, as in `LoggedRequest.route`. */
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

/** A REST request with its response, as sent and received. */
export interface RestExchange {
  readonly method: string;
  /** The route in Discord's documentation: `/channels/:channelId/messages`. */
  readonly route: string;
  /** The names of the query parameters. */
  readonly query: readonly string[];
  /** The JSON body; for a form with files, its `payload_json`. */
  readonly requestBody: unknown;
  /** Missing if a simulated fault replaced the response. */
  readonly response: { readonly status: number; readonly body?: unknown } | undefined;
}

/** The name of the diagnostics channel on which every local Discord of the process publishes each `RestExchange`. */
export const REST_EXCHANGES = 'cinnabar:local-discord:rest';

const exchanges = channel(REST_EXCHANGES);

/** Publishes an exchange; nearly free without subscribers. */
export function publishExchange(exchange: () => RestExchange): void {
  if (exchanges.hasSubscribers) exchanges.publish(exchange());
}
