import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createRouter, listenOnLoopback, sendJson } from '@cinnabar/local-http';
import { createFaults, type LettaFaults, type TriggeredFault } from '../faults.js';
import { agents, conversations, tools } from '../routes/agents.js';
import { mcpServers } from '../routes/mcp-servers.js';
import { messages } from '../routes/messages.js';
import { runs } from '../routes/runs.js';
import type { LettaRun, World } from '../state.js';
import { type LettaRequestRecord, Refusal, type Route, route } from './request.js';

interface LettaHttp {
  readonly baseUrl: string;
  readonly requests: readonly LettaRequestRecord[];
  readonly faults: LettaFaults;
  close(): Promise<void>;
}

/** Starts the server on a free port of the loopback interface. @param key when set, requests without it get 401 */
export async function serve(world: World, key: string | undefined): Promise<LettaHttp> {
  const requests: LettaRequestRecord[] = [];
  const faults = createFaults();

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const method = request.method ?? 'GET';
    const body = parse(await text(request));
    const found = findRoute(method, url.pathname);
    const given = request.headers.authorization?.replace(/^Bearer\s+/i, '');
    requests.push({
      method,
      path: url.pathname,
      route: found?.route.path,
      hasKey: given !== undefined,
      query: Object.fromEntries(url.searchParams),
      body,
      at: world.clock.now(),
    });
    if (key !== undefined && given !== key) throw new Refusal(401, 'Unauthorized');
    if (found === undefined) throw new Refusal(404, 'Not Found');
    const { route, params } = found;
    const fault = faults.take(method, route.path);
    if (fault !== undefined && fault.afterEffect !== true) return refuse(response, fault);
    const answer = await route.handle({ params, query: url.searchParams, body }, world);
    if (fault !== undefined) return refuse(response, fault);
    if ('stream' in answer) return sendRun(response, answer.stream, answer.after);
    if ('nothing' in answer) return sendJson(response, 204);
    sendJson(response, 200, answer.json);
  };

  const { url: baseUrl, close } = await listenOnLoopback((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) return response.destroy();
      if (error instanceof Refusal) return sendJson(response, error.status, { detail: error.detail, ...error.more });
      return sendJson(response, 500, { detail: `The stand-in failed: ${String(error)}` });
    });
  });
  return { baseUrl, requests, faults, close };
}

function refuse(response: ServerResponse, { status, detail, retryAfterSeconds }: TriggeredFault): void {
  if (status === null) return void response.destroy();
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  sendJson(response, status, { detail: detail ?? 'An internal server error occurred' }, headers);
}

function parse(body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    throw new Refusal(422, 'JSON decode error');
  }
}

/** Sends a run's frames, existing and new ones, until it ends, the client disconnects, or a script cuts the connection. */
function sendRun(response: ServerResponse, run: LettaRun, after: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  let sent = after;
  return new Promise((resolve) => {
    const end = () => {
      run.listeners.delete(listen);
      response.off('close', end);
      resolve();
    };
    const listen = (event: 'more' | 'cut') => {
      if (event === 'cut') {
        // Flushes all written frames before the connection closes.
        response.write('', () => response.destroy());
        return end();
      }
      for (const frame of run.frames.slice(sent)) response.write(frame);
      sent = Math.max(sent, run.frames.length);
      if (!run.over || !run.frames.at(-1)?.includes('[DONE]')) return;
      response.end();
      end();
    };
    run.listeners.add(listen);
    response.on('close', end);
    listen('more');
  });
}

/** All endpoints. */
const routes: readonly Route[] = [
  route('GET', '/v1/health', (_, { version }) => ({ json: { version, status: 'ok' } })),
  ...agents,
  ...conversations,
  ...messages,
  ...runs,
  ...tools,
  ...mcpServers,
];
const findRoute = createRouter(routes);
