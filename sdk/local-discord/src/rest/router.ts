import Router from 'find-my-way';
import type { Route } from './route.js';
import { routes } from './routes/index.js';

export interface MatchedRoute {
  route: Route;
  params: Readonly<Record<string, string | undefined>>;
}

/** Finds the route of a method and a path (without `/api/v10`). */
export type FindRoute = (method: string, path: string) => MatchedRoute | undefined;

/** All routes of the API in one radix tree. */
export function createRouter(): FindRoute {
  const tree = Router({ maxParamLength: 1_000, ignoreTrailingSlash: true });
  for (const route of routes) tree.on(route.method, route.path, unused, route);
  return (method, path) => {
    if (!isMethod(method)) return undefined;
    const found = tree.find(method, path);
    if (!found) return undefined;
    const route: Route = found.store;
    return { route, params: found.params };
  };
}

function unused(): void {}

function isMethod(method: string): method is Route['method'] {
  return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method);
}
