import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRateLimiter, isAllowedSource, type ListenAddress, type Logger, urlOf } from '@cinnabar/sdk';
import type { Verify } from '../tokens/tokens.js';
import { createSessions, type SessionParts } from './sessions.js';

interface Parts extends SessionParts {
  readonly address: ListenAddress;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly requestsPerMinute: number;
  /** Whom a bearer acts as. */
  readonly verify: Verify;
  readonly log: Logger;
}

export interface Endpoint {
  /** `http://127.0.0.1:8808/mcp` */
  readonly url: string;
  /** Ends the sessions of a token that was revoked. */
  closeOf(tokenId: string): Promise<void>;
  /** Ends the sessions that nobody has used for a while. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const PATH = '/mcp';
/** Guesses at tokens, of all callers together. */
const FAILURES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;
/** The tokens whose requests are counted. */
const MAX_KEYS = 1_000;

/** Serves the host's tools over streamable HTTP. Resolves when it listens. */
export async function startEndpoint(parts: Parts): Promise<Endpoint> {
  const { address, verify, log } = parts;
  const sessions = createSessions(parts);
  const limit = createRateLimiter(parts.clock, MINUTE_MS, MAX_KEYS);
  const allowed = { hosts: [...parts.hosts, address.host], origins: parts.origins };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname !== PATH) return refuse(response, 404, `There is nothing here but ${PATH}`);
    if (!isAllowedSource(request.headers, allowed)) return refuse(response, 403, 'Host or Origin is not allowed');
    const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const caller = bearer === undefined ? undefined : await verify(bearer);
    if (caller === undefined) {
      const wait = limit.take('', FAILURES_PER_MINUTE);
      if (wait !== undefined) return tooMany(response, wait.waitMs);
      const challenge = bearer === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
      return refuse(response, 401, 'A valid bearer token is needed', { 'www-authenticate': challenge });
    }
    const wait = limit.take(caller.id, parts.requestsPerMinute);
    if (wait !== undefined) return tooMany(response, wait.waitMs);
    await sessions.handle(request, response, caller);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      log.error('a request over MCP failed', { error });
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'Something went wrong inside');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  const url = `${urlOf(address, typeof bound === 'object' && bound !== null ? bound.port : address.port)}${PATH}`;
  log.info(`tools are offered over MCP at ${url}`);

  return {
    url,
    closeOf: sessions.closeOf,
    sweep: sessions.sweep,
    async close() {
      await sessions.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}

function tooMany(response: ServerResponse, waitMs: number): void {
  refuse(response, 429, 'Too many requests', { 'retry-after': String(Math.ceil(waitMs / 1000)) });
}
