import { GatewayOpcodes } from 'discord-api-types/v10';
import type { ConnectionLog } from './gateway/connection-log.js';
import type { InteractionFaults, World } from './world.js';

/** The simulated faults. */
export interface Faults {
  readonly rest: RestFaults;
  readonly gateway: GatewayFaults;
  /** Ends all faults. */
  clear(): void;
}

export function createFaults(world: World, connections: ConnectionLog): Faults {
  const rest = new RestFaults();
  const gateway = new GatewayFaults(world, connections);
  return {
    rest,
    gateway,
    clear: () => {
      rest.clear();
      gateway.clear();
    },
  };
}

/** Selects the requests that a fault affects, and their number. */
interface RestFaultMatch {
  /** Default: all methods. */
  method?: string;
  /** A route as Discord documents it (`/channels/:channelId/messages`), or a pattern for the path; default: all. */
  route?: string | RegExp;
  /** Number of requests; default: 1. `Infinity` until cleared. */
  times?: number;
}

/** The effect of a fault on a request. */
export type RestFault =
  | { kind: 'status'; status: number; body: object; headers: Record<string, string>; afterEffect: boolean }
  | { kind: 'drop'; afterEffect: boolean }
  | { kind: 'hold'; until: Promise<void> };

interface Armed {
  match: RestFaultMatch;
  left: number;
  fault: RestFault;
}

/** Simulates faults of the REST API for a number of requests. */
export class RestFaults {
  /** Delay of every response, in real milliseconds. */
  latencyMs = 0;
  readonly #armed: Armed[] = [];

  /** Responds with a status such as 500, 502 or 503. With `afterEffect` the request is carried out first, as behind a proxy that loses the response. */
  fail(
    status: number,
    match: RestFaultMatch & { afterEffect?: boolean; body?: object; headers?: Record<string, string> } = {},
  ): void {
    const { body = { message: `${status}: Injected fault`, code: 0 }, headers = {}, afterEffect = false } = match;
    this.#arm(match, { kind: 'status', status, body, headers, afterEffect });
  }

  /** Responds with 429, for the route or for all routes. */
  rateLimit(match: RestFaultMatch & { retryAfterMs?: number; global?: boolean } = {}): void {
    const seconds = (match.retryAfterMs ?? 10) / 1_000;
    const global = match.global ?? false;
    const headers = {
      'retry-after': String(seconds),
      'x-ratelimit-scope': global ? 'global' : 'user',
      ...(global ? { 'x-ratelimit-global': 'true' } : {}),
    };
    const body = { message: 'You are being rate limited.', retry_after: seconds, global };
    this.#arm(match, { kind: 'status', status: 429, body, headers, afterEffect: false });
  }

  /** Cuts the connection without a response; with `afterEffect`, the request is carried out first. */
  drop(match: RestFaultMatch & { afterEffect?: boolean } = {}): void {
    this.#arm(match, { kind: 'drop', afterEffect: match.afterEffect ?? false });
  }

  /** Delays responses until the returned function is called; then the request continues as usual. `settled()` does not wait for it. */
  hold(match: RestFaultMatch = {}): () => void {
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#arm(match, { kind: 'hold', until });
    return release;
  }

  /** Ends all faults and the latency. */
  clear(): void {
    this.#armed.length = 0;
    this.latencyMs = 0;
  }

  /** The fault that applies to a request, if any; called by the server. */
  take(method: string, route: string, path: string): RestFault | undefined {
    const armed = this.#armed.find((one) => matches(one.match, method, route, path));
    if (!armed) return undefined;
    armed.left -= 1;
    if (armed.left <= 0) this.#armed.splice(this.#armed.indexOf(armed), 1);
    return armed.fault;
  }

  #arm(match: RestFaultMatch, fault: RestFault): void {
    this.#armed.push({ match, left: match.times ?? 1, fault });
  }
}

function matches(match: RestFaultMatch, method: string, route: string, path: string): boolean {
  if (match.method !== undefined && match.method !== method) return false;
  if (match.route === undefined) return true;
  return typeof match.route === 'string' ? match.route === route : match.route.test(path);
}

/** Simulates faults of the gateway. Counts decrease with each affected connection; `Infinity` is until `clear()`. */
export class GatewayFaults {
  /** Refuse this many connections (HTTP 503 instead of a WebSocket). */
  refuseConnections = 0;
  /** Cut this many connections before they become WebSockets. */
  cutConnections = 0;
  /** Accept this many connections and never answer them. */
  hangConnections = 0;
  /** Close the next connections at once with this code. */
  closeOnConnect: { code: number; times: number; reason?: string } | undefined;
  /** Send no HELLO on this many connections. */
  withholdHello = 0;
  /** Ignore this many IDENTIFYs and RESUMEs. */
  withholdReady = 0;
  /** Stop acknowledging heartbeats: a zombie connection. */
  muteHeartbeatAcks = false;
  /** Answer every RESUME with INVALID_SESSION (`resumable: false`). */
  refuseResume = false;
  /** Faults of interactions. */
  readonly interactions: InteractionFaults;
  readonly #world: World;
  readonly #connections: ConnectionLog;

  constructor(world: World, connections: ConnectionLog) {
    this.#world = world;
    this.interactions = world.interactionFaults;
    this.#connections = connections;
  }

  /** Cuts all sockets without a close frame. The sessions stay resumable. */
  dropSockets(): void {
    for (const socket of this.#connections.open) socket.terminate();
  }

  /** Closes all sockets with a code, or those of one shard. */
  closeSockets(code: number, { reason, shard }: { reason?: string; shard?: number } = {}): void {
    for (const session of this.#world.sessions) {
      if (shard === undefined || session.shard[0] === shard) session.socket?.close(code, reason);
    }
  }

  /** Op 7: asks all clients to reconnect and resume. */
  requestReconnect(): void {
    this.#send({ op: GatewayOpcodes.Reconnect, d: null });
  }

  /** Op 9. With `resumable: false` the sessions are gone. */
  invalidateSessions(resumable: boolean): void {
    this.#send({ op: GatewayOpcodes.InvalidSession, d: resumable });
    if (!resumable) for (const session of [...this.#world.sessions]) this.#world.sessions.delete(session);
  }

  /** Whether the next connection is affected; called by the server. */
  take(what: 'refuseConnections' | 'cutConnections' | 'hangConnections' | 'withholdHello' | 'withholdReady'): boolean {
    if (this[what] <= 0) return false;
    this[what] -= 1;
    return true;
  }

  /** The close code for the next connection, if a fault closes it at once; called by the server. */
  takeClose(): { code: number; reason?: string } | undefined {
    const fault = this.closeOnConnect;
    if (fault === undefined || fault.times <= 0) return undefined;
    fault.times -= 1;
    return fault;
  }

  /** Ends continuing faults. */
  clear(): void {
    this.refuseConnections = 0;
    this.cutConnections = 0;
    this.hangConnections = 0;
    this.closeOnConnect = undefined;
    this.withholdHello = 0;
    this.withholdReady = 0;
    this.muteHeartbeatAcks = false;
    this.refuseResume = false;
    this.interactions.repeat = false;
    this.interactions.omitChannel = false;
  }

  #send(payload: object): void {
    const frame = JSON.stringify(payload);
    for (const { socket } of this.#world.sessions) socket?.send(frame);
  }
}
