import type { RestContext } from './context.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a route answers: `undefined` is 204, an object 200, and `created()` 201. */
export type RouteResult = object | undefined;

export interface Route {
  readonly method: Method;
  /** As Discord documents it, with `:names`: `/channels/:channelId/messages`. */
  readonly path: string;
  /** False where the token is in the path (webhooks, interactions). */
  readonly authenticated: boolean;
  readonly handle: (context: RestContext) => RouteResult | Promise<RouteResult>;
}

/** A route for a bot's token. */
export function route(method: Method, path: string, handle: Route['handle']): Route {
  return { method, path, authenticated: true, handle };
}

/** A route whose token is in its path. */
export function openRoute(method: Method, path: string, handle: Route['handle']): Route {
  return { method, path, authenticated: false, handle };
}

/** An answer with status 201. */
export class Created {
  readonly body: object;
  constructor(body: object) {
    this.body = body;
  }
}
