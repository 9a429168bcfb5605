import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** HTTP requests to this server that clients in this very process have begun, and whose answers they have not yet read. */
export interface OwnRequests {
  readonly underWay: number;
  /** Grows with each that begins or ends. */
  readonly activity: number;
  stop(): void;
}

/**
 * Sees requests from the client's side: from the moment when discord.js makes one until it has read the answer.
 * The server alone cannot know of those that are still, or again, on the wire. undici, which discord.js and `fetch` use,
 * publishes them (https://undici.nodejs.org/#/docs/api/DiagnosticsChannel.md). Clients in other processes stay unseen.
 */
export function watchOwnRequests(origin: string): OwnRequests {
  const open = new Set<unknown>();
  let activity = 0;
  const onCreate = (message: unknown) => {
    const request = requestOf(message);
    if (!request || !('origin' in request) || String(request.origin) !== origin) return;
    activity += 1;
    open.add(request);
  };
  const onEnd = (message: unknown) => {
    if (open.delete(requestOf(message))) activity += 1;
  };
  subscribe('undici:request:create', onCreate);
  subscribe('undici:request:trailers', onEnd);
  subscribe('undici:request:error', onEnd);
  return {
    get underWay() {
      return open.size;
    },
    get activity() {
      return activity;
    },
    stop: () => {
      unsubscribe('undici:request:create', onCreate);
      unsubscribe('undici:request:trailers', onEnd);
      unsubscribe('undici:request:error', onEnd);
    },
  };
}

function requestOf(message: unknown): object | undefined {
  if (typeof message !== 'object' || message === null || !('request' in message)) return undefined;
  return typeof message.request === 'object' && message.request !== null ? message.request : undefined;
}
