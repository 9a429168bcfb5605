import type { LettaRun } from '../state/run.js';
import type { World } from '../state/world.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request that has found its route. */
export interface LettaRequest {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export type Answer =
  | { readonly json: unknown }
  /** 204 */
  | { readonly nothing: true }
  /** The run's frames after that number, and those to come. */
  | { readonly stream: LettaRun; readonly after: number };

export interface Route {
  readonly method: Method;
  /** As Letta documents it, with `:names`. */
  readonly path: string;
  readonly handle: (request: LettaRequest, world: World) => Answer | Promise<Answer>;
}

export function route(method: Method, path: string, handle: Route['handle']): Route {
  return { method, path, handle };
}
