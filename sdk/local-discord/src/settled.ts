import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate } from 'node:timers';
import type { GatewaySession } from './gateway/session.js';
import { createWaiters, realDelay } from './waiters.js';
import type { World } from './world.js';

const nextTurn = setImmediate;
/** A client's answer to an event may take a few turns of its event loop to arrive: this many quiet rounds in a row mean rest. */
const QUIET_ROUNDS = 5;
const FILE_PATIENCE_MS = 1_000;

/**
 * Resolves when every client has received every event that was sent to it, and no REST request is under way. A heartbeat is asked of each client (op 1); its
 * heartbeat comes after everything that it received before. Of bots in this process it also sees requests that are still on the wire, and file access. Other
 * reasons to wait (a model, a timer, a rate limit) cannot be detected: for that, await its result with `expectMessage`.
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

/** Asks every connected client for a heartbeat; resolves when each has sent one that tells that it has received everything. */
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

/** Until the client's heartbeat says that it has seen everything; or the socket is gone. */
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

/** HTTP requests to this server that clients in this very process have begun, and whose answers they have not yet read. */
interface OwnRequests {
  readonly inFlight: number;
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

/** As Node names what reads, writes and closes files. */
const FILE_KINDS: ReadonlySet<string> = new Set(['FSReqPromise', 'FSReqCallback', 'CloseReq']);

/**
 * Whether this process is reading or writing a file. A bot that saves before it answers is not at rest while it does. A read may never end (a pipe), so it
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

/** Counts what goes on, so that `settled()` knows when nothing does. */
export interface Traffic {
  begin(): void;
  end(): void;
  /** A request is answered nothing for now (a fault), and later goes on. */
  hold(): void;
  release(): void;
  /** Something happened that is no request, such as a new connection. */
  touch(): void;
  /** Grows with everything that happens. */
  readonly activity: number;
  /** Without those that are held. */
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
