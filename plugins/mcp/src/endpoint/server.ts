import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type Clock,
  createRateLimiter,
  isAllowedSource,
  type ListenAddress,
  type Logger,
  type ToolInfo,
  type Tools,
  urlOf,
} from '@cinnabar/sdk';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { asTransport } from '../servers/transports.js';
import type { Caller, Verify } from '../tokens/tokens.js';
import { callHostTool, createProgressReporter, mayUse } from './call.js';

interface Dependencies extends SessionDependencies {
  readonly requestsPerMinute: number;
  /** Finds the actor of a token. */
  readonly verify: Verify;
  readonly log: Logger;
}

export interface Endpoint {
  /** Handles requests with a valid token. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends the sessions of a token that was revoked. */
  closeOf(tokenId: string): Promise<void>;
  /** Ends idle sessions. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const PATH = '/mcp';
/** Limit on invalid tokens, for all callers together. */
const FAILURES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;
/** Maximum number of tokens whose requests are counted. */
const MAX_KEYS = 1_000;

/** The host's tools over streamable HTTP, for any server that routes requests to `handle`. */
export function createEndpoint(parts: Dependencies): Endpoint {
  const { verify, log } = parts;
  const sessions = createSessions(parts);
  const limit = createRateLimiter(parts.clock, MINUTE_MS, MAX_KEYS);

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
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

  return {
    closeOf: sessions.closeOf,
    sweep: sessions.sweep,
    close: sessions.close,
    handle: (request, response) =>
      handle(request, response).catch((error: unknown) => {
        log.error('a request over MCP failed', { error });
        if (response.headersSent) response.destroy();
        else refuse(response, 500, 'Something went wrong inside');
      }),
  };
}

interface ServerOptions {
  readonly address: ListenAddress;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly endpoint: Pick<Endpoint, 'handle'>;
  readonly log: Logger;
}

/** The endpoint's own server. */
interface EndpointServer {
  /** `http://127.0.0.1:8808/mcp` */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server for the endpoint only. Resolves when it listens. */
export async function startServer({ address, endpoint, log, ...parts }: ServerOptions): Promise<EndpointServer> {
  const allowed = { hosts: [...parts.hosts, address.host], origins: parts.origins };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname !== PATH) refuse(response, 404, `There is nothing here but ${PATH}`);
    else if (!isAllowedSource(request.headers, allowed)) refuse(response, 403, 'Host or Origin is not allowed');
    else void endpoint.handle(request, response);
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
    async close() {
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

interface Session {
  readonly tokenId: string;
  readonly transport: StreamableHTTPServerTransport;
  usedAt: number;
}

/** The open sessions. A session is only visible to the token that opened it. */
interface Sessions {
  handle(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void>;
  /** Ends the sessions of a token that was revoked. */
  closeOf(tokenId: string): Promise<void>;
  /** Ends idle sessions. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const MOST_PER_TOKEN = 20;
const IDLE_MS = 30 * 60_000;
const MOST_BODY_BYTES = 1024 * 1024;

export function createSessions(parts: SessionDependencies): Sessions {
  const { clock } = parts;
  const sessions = new Map<string, Session>();

  const end = async (ids: readonly string[]) => {
    for (const id of ids) {
      const session = sessions.get(id);
      sessions.delete(id);
      await session?.transport.close();
    }
  };
  const idsWhere = (wanted: (session: Session) => boolean) =>
    [...sessions].filter(([, session]) => wanted(session)).map(([id]) => id);

  const open = async (caller: Caller): Promise<StreamableHTTPServerTransport> => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: MOST_BODY_BYTES,
      async onsessioninitialized(id) {
        sessions.set(id, { tokenId: caller.id, transport, usedAt: clock.now() });
        const ofToken = idsWhere(({ tokenId }) => tokenId === caller.id);
        await end(ofToken.slice(0, -MOST_PER_TOKEN));
      },
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createSessionServer(caller, parts).connect(asTransport(transport));
    return transport;
  };

  return {
    async handle(request, response, caller) {
      const id = request.headers['mcp-session-id'];
      if (id === undefined) {
        // Without a session, only a request to initialize is valid: the transport answers others with 400.
        const transport = await open(caller);
        await transport.handleRequest(request, response);
        if (transport.sessionId === undefined) await transport.close();
        return;
      }
      const session = typeof id === 'string' ? sessions.get(id) : undefined;
      if (session === undefined || session.tokenId !== caller.id) {
        const error = { code: -32_001, message: 'There is no such session; open one with initialize' };
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
        return;
      }
      session.usedAt = clock.now();
      await session.transport.handleRequest(request, response);
    },
    closeOf: (tokenId) => end(idsWhere((session) => session.tokenId === tokenId)),
    sweep: () => end(idsWhere(({ usedAt }) => clock.now() - usedAt > IDLE_MS)),
    close: () => end([...sessions.keys()]),
  };
}

interface SessionDependencies {
  readonly tools: Tools;
  readonly clock: Clock;
  readonly version: string;
  readonly waitMs: number;
  /** Maximum length of the text of a result. */
  readonly mostCharacters: number;
}

const INSTRUCTIONS =
  'Tools of a Discord bot. They act for one member in one channel, or for an agent as far as it was let in. Some calls wait there for a confirmation: a result that begins with ' +
  '"Not run yet" means that nothing has happened so far.';

/** The server of one session, with the host's tools for its member or agent. */
function createSessionServer(
  caller: Caller,
  { tools, clock, version, waitMs, mostCharacters }: SessionDependencies,
): Server {
  const instructions = `${INSTRUCTIONS} A result holds at most ${mostCharacters} characters of text; one that would be longer says how to get the rest.`;
  const server = new Server({ name: 'cinnabar', version }, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const actor = await caller.actor();
    const offered = actor === undefined ? [] : await tools.offered(actor);
    return { tools: offered.filter(({ name }) => mayUse(caller, name)).map(toMcpTool) };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, _meta, sendNotification }) => {
    const progress = createProgressReporter(_meta?.progressToken, sendNotification);
    return callHostTool(params.name, params.arguments, {
      tools,
      clock,
      caller,
      waitMs,
      mostCharacters,
      signal,
      progress,
    });
  });
  return server;
}

/** The hints follow from the declared risk. */
function toMcpTool({ name, description, inputSchema, risk }: ToolInfo) {
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { readOnlyHint: risk === 'read', destructiveHint: risk === 'destructive' },
  } as const;
}
