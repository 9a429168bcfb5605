import { setImmediate } from 'node:timers';
import type { GatewaySession } from '../gateway/session.js';
import type { Traffic } from '../rest/traffic.js';
import type { World } from '../state/world.js';
import { createWaiters } from './waiters.js';

const nextTurn = setImmediate;
/** A client's answer to an event may take a few turns of its event loop to arrive: this many quiet rounds in a row mean rest. */
const QUIET_ROUNDS = 6;

/**
 * Resolves when every client has received every event that was sent to it, and no REST request is under way.
 * A heartbeat is asked of each client (op 1); its heartbeat comes after everything that it received before.
 * What a client does in between that is neither an event nor a request (a model call, a timer) cannot be seen:
 * for that, await its result with `expectMessage`.
 */
export async function settled(world: World, traffic: Traffic, timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  let quiet = 0;
  while (quiet < QUIET_ROUNDS) {
    const before = state(world, traffic);
    const connected = [...world.sessions].filter((session) => session.socket?.readyState === 1);
    await Promise.all(connected.map((session) => roundTrip(session, until - performance.now())));
    await turn();
    quiet = traffic.underWay === 0 && state(world, traffic) === before ? quiet + 1 : 0;
    if (performance.now() > until) {
      throw new Error(`Not settled within ${timeoutMs} ms: ${traffic.underWay} requests under way.`);
    }
  }
}

function state(world: World, traffic: Traffic): string {
  let sent = 0;
  for (const session of world.sessions) sent += session.sequence;
  return `${traffic.activity}/${traffic.underWay}/${sent}/${world.sessions.size}`;
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
