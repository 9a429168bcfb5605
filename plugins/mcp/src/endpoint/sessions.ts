import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, ToolInfo, Tools } from '@cinnabar/sdk';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../tokens/tokens.js';
import { asTransport } from '../transports.js';
import { callHostTool, createProgressReporter, mayUse } from './call.js';

interface Session {
  readonly tokenId: string;
  readonly transport: StreamableHTTPServerTransport;
  usedAt: number;
}

/** The open sessions. Each belongs to the token that opened it: another one cannot so much as see that it exists. */
interface Sessions {
  handle(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void>;
  /** Ends the sessions of a token that was revoked. */
  closeOf(tokenId: string): Promise<void>;
  /** Ends those that nobody has used for a while. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const MOST_PER_TOKEN = 20;
const IDLE_MS = 30 * 60_000;
const MOST_BODY_BYTES = 1024 * 1024;

export function createSessions(parts: SessionParts): Sessions {
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
        // Only a request to initialize is of use without a session: the transport answers any other one with 400.
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

export interface SessionParts {
  readonly tools: Tools;
  readonly clock: Clock;
  readonly version: string;
  readonly waitMs: number;
  /** The longest text of a result. */
  readonly mostCharacters: number;
}

const INSTRUCTIONS =
  'Tools of a Discord bot. They act for one member in one channel, or for an agent as far as it was let in. Some calls wait there for a confirmation: a result that begins with ' +
  '"Not run yet" means that nothing has happened so far.';

/** The host's tools for one session, and so for one member or agent. */
function createSessionServer(caller: Caller, { tools, clock, version, waitMs, mostCharacters }: SessionParts): Server {
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

/** Hints follow from the declared risk. */
function toMcpTool({ name, description, inputSchema, risk }: ToolInfo) {
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { readOnlyHint: risk === 'read', destructiveHint: risk === 'destructive' },
  } as const;
}
