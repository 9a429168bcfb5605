import { setImmediate } from 'node:timers';
import type { GatewaySession } from '../gateway/session.js';
import type { Traffic } from '../rest/traffic.js';
import type { World } from '../state/world.js';
import { createFileWork } from './file-work.js';
import type { OwnRequests } from './own-requests.js';
import { createWaiters, realDelay } from './waiters.js';

const nextTurn = setImmediate;
/** A client's answer to an event may take a few turns of its event loop to arrive: this many quiet rounds in a row mean rest. */
const QUIET_ROUNDS = 5;
const FILE_PATIENCE_MS = 1_000;

/**
 * Resolves when every client has received every event that was sent to it, and no REST request is under way.
 * A heartbeat is asked of each client (op 1); its heartbeat comes after everything that it received before.
 * Of bots in this process it also sees requests that are still on the wire, and file access.
 * What else a bot may wait for (a model, a timer, a rate limit) cannot be seen: for that, await its result with `expectMessage`.
 */
export async function settled(world: World, traffic: Traffic, own: OwnRequests, timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  const filesBusy = createFileWork(FILE_PATIENCE_MS);
  const busy = () => traffic.underWay > 0 || own.underWay > traffic.held || filesBusy();
  let quiet = 0;
  while (quiet < QUIET_ROUNDS) {
    if (performance.now() > until) {
      const count = Math.max(traffic.underWay, own.underWay - traffic.held);
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
