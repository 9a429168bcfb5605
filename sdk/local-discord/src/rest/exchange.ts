import { channel } from 'node:diagnostics_channel';

/** One REST request with its answer, as it went over the wire. */
export interface RestExchange {
  readonly method: string;
  /** As Discord documents it: `/channels/:channelId/messages`. */
  readonly route: string;
  /** The names of the query parameters that came along. */
  readonly query: readonly string[];
  /** The JSON body; of a form with files its `payload_json`. */
  readonly requestBody: unknown;
  /** Missing where a fault that a test injected took its place. */
  readonly response: { readonly status: number; readonly body?: unknown } | undefined;
}

/** The name of the diagnostics channel on which every local Discord of the process publishes each `RestExchange`. */
export const REST_EXCHANGES = 'cinnabar:local-discord:rest';

const exchanges = channel(REST_EXCHANGES);

/** Publishes an exchange; costs next to nothing while there are no subscribers. */
export function publishExchange(exchange: () => RestExchange): void {
  if (exchanges.hasSubscribers) exchanges.publish(exchange());
}
