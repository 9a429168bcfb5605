import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import Router from 'find-my-way';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies readonly Method[];

/** A server on 127.0.0.1. */
export interface LoopbackServer {
  /** The HTTP server, to handle upgrades and to observe connections. */
  readonly server: Server;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly port: number;
  /** Ends every connection, and resolves when the server has closed. */
  close(): Promise<void>;
}

/** Listens on the loopback interface only. @param port default: a free one; rejects when it is in use */
export async function listenOnLoopback(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  port = 0,
): Promise<LoopbackServer> {
  const server = createServer(handle);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    server,
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface RoutePath {
  readonly method: Method;
  /** The path in the API's documentation, with `:names`: `/channels/:channelId/messages`. */
  readonly path: string;
}

export interface MatchedRoute<R> {
  readonly route: R;
  readonly params: Readonly<Record<string, string | undefined>>;
}

/** Finds the route of a request by its method and path; a trailing slash is ignored. */
export function createRouter<R extends RoutePath>(
  routes: readonly R[],
): (method: string, path: string) => MatchedRoute<R> | undefined {
  const tree = Router({ maxParamLength: 1_000, ignoreTrailingSlash: true });
  for (const route of routes) tree.on(route.method, route.path, () => undefined, route);
  return (method, path) => {
    if (!isMethod(method)) return undefined;
    const found = tree.find(method, path);
    if (found === null) return undefined;
    const route: R = found.store;
    return { route, params: found.params };
  };
}

function isMethod(method: string): method is Method {
  return METHODS.includes(method);
}

/** Responds with JSON; without a body for `undefined`, as for 204. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const json = body === undefined ? undefined : JSON.stringify(body);
  response.writeHead(status, { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers });
  response.end(json);
}
