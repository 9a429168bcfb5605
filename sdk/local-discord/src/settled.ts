import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate } from 'node:timers';
import type { GatewaySession } from './gateway/session.js';
import { createWaiters, realDelay } from './waiters.js';
import type { World } from './world.js';

const nextTurn = setImmediate;
/** A client may need a few turns of its event loop to answer an event: this number of rounds without activity counts as settled. */
const QUIET_ROUNDS = 5;
const FILE_PATIENCE_MS = 1_000;

/**
 * Resolves when every client has received every event that was sent to it, and no REST request is running. It requests a heartbeat of each client (op 1), which
 * a client sends after it has received all earlier events. For bots in this process it also detects requests that are still being transmitted, and file access.
 * Other reasons to wait (a model, a timer, a rate limit) cannot be detected: await their result with `expectMessage` instead.
 */
export async function settled(world: World, traffic: Traffic, own: OwnRequests, timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  const filesBusy = createFileWork(FILE_PATIENCE_MS);
  const busy = () => traffic.inFlight > 0 || own.inFlight > traffic.held || filesBusy();
  let quiet = 0;
  while (quiet < QUIET_ROUNDS) {
    if (performance.now() > until) {
      const count = Math.max(traffic.inFlight, own.inFlight - traffic.held);
      throw new Error(`Not settled within ${timeoutMs} ms: ${count} requests under way.`);
    }
    if (busy()) {
      quiet = 0;
      await realDelay(1);
      continue;
    }
    const before = state(world, traffic, own);
    await heartbeats(world, until - performance.now());
    await turn();
    quiet = !busy() && state(world, traffic, own) === before ? quiet + 1 : 0;
  }
}

/** Requests a heartbeat from every connected client. Resolves when each has sent one that acknowledges all events. */
export async function heartbeats(world: World, timeoutMs: number): Promise<void> {
  const connected = [...world.sessions].filter((session) => session.socket?.readyState === 1);
  await Promise.all(connected.map((session) => roundTrip(session, timeoutMs)));
}

/** Changes whenever anything happens. */
function state(world: World, traffic: Traffic, own: OwnRequests): string {
  let sent = 0;
  for (const session of world.sessions) sent += session.sequence;
  return `${traffic.activity}/${own.activity}/${sent}/${world.sessions.size}`;
}

/** Resolves when the client's heartbeat acknowledges all events, or the socket is closed. */
async function roundTrip(session: GatewaySession, timeoutMs: number): Promise<void> {
  const { socket } = session;
  const target = session.sequence;
  const waiters = createWaiters();
  const onClose = () => waiters.release();
  const onSeen = (seen: number) => {
    if (seen >= target) waiters.release();
    else session.requestHeartbeat();
  };
  session.heartbeatListeners.add(onSeen);
  socket?.once('close', onClose);
  session.requestHeartbeat();
  try {
    await waiters.wait(
      Math.max(1, timeoutMs),
      () => 'A connected client answered no heartbeat: it is blocked, or its socket is dead.',
    );
  } finally {
    session.heartbeatListeners.delete(onSeen);
    socket?.off('close', onClose);
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => nextTurn(resolve));
}

/** HTTP requests from this process to the server, up to the end of their responses. */
interface OwnRequests {
  readonly inFlight: number;
  /** Increases whenever such a request begins or ends. */
  readonly activity: number;
  stop(): void;
}

/**
 * Observes requests from the client's side: from the moment when discord.js makes one until it has read the response. The server cannot observe requests or
 * responses that are still being transmitted. undici, which discord.js and `fetch` use, publishes them
 * (https://undici.nodejs.org/#/docs/api/DiagnosticsChannel.md). Clients in other processes are not observed.
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
    get inFlight() {
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

/** Node's names of the resources that read, write and close files. */
const FILE_KINDS: ReadonlySet<string> = new Set(['FSReqPromise', 'FSReqCallback', 'CloseReq']);

/**
 * Whether this process is reading or writing a file. A bot that saves before it answers is not settled while it saves. A read may never end (a pipe), so it
 * counts for at most `patienceMs` of real time.
 */
function createFileWork(patienceMs: number): () => boolean {
  let since: number | undefined;
  return () => {
    const pending = process.getActiveResourcesInfo().some((kind) => FILE_KINDS.has(kind));
    if (!pending) since = undefined;
    else since ??= performance.now();
    return since !== undefined && performance.now() - since < patienceMs;
  };
}

/** Counts running requests and other activity, so that `settled()` can detect their end. */
export interface Traffic {
  begin(): void;
  end(): void;
  /** A fault delays the response to a request until `release()`. */
  hold(): void;
  release(): void;
  /** Reports activity that is not a request, such as a new connection. */
  touch(): void;
  /** Increases with all activity. */
  readonly activity: number;
  /** Running requests, except delayed ones. */
  readonly inFlight: number;
  readonly held: number;
}

export function createTraffic(): Traffic {
  let activity = 0;
  let inFlight = 0;
  let held = 0;
  return {
    begin: () => {
      activity += 1;
      inFlight += 1;
    },
    end: () => {
      inFlight -= 1;
    },
    hold: () => {
      inFlight -= 1;
      held += 1;
    },
    release: () => {
      activity += 1;
      inFlight += 1;
      held -= 1;
    },
    touch: () => {
      activity += 1;
    },
    get activity() {
      return activity;
    },
    get inFlight() {
      return inFlight;
    },
    get held() {
      return held;
    },
  };
}
