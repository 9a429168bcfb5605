import { GatewayOpcodes } from 'discord-api-types/v10';
import type { ConnectionLog } from '../gateway/connection-log.js';
import type { InteractionFaults, World } from '../state/world.js';

/** Makes the gateway misbehave. Counts go down with each connection that is hit; `Infinity` is until `clear()`. */
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
  /** Leave this many IDENTIFYs and RESUMEs without an answer. */
  withholdReady = 0;
  /** Stop acknowledging heartbeats: a zombie connection. */
  muteHeartbeatAcks = false;
  /** Answer every RESUME with INVALID_SESSION (`resumable: false`). */
  refuseResume = false;
  /** Oddities of interactions. */
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

  /** Whether the next one is hit; called by the server. */
  take(what: 'refuseConnections' | 'cutConnections' | 'hangConnections' | 'withholdHello' | 'withholdReady'): boolean {
    if (this[what] <= 0) return false;
    this[what] -= 1;
    return true;
  }

  /** How the next connection is closed at once, if it is; called by the server. */
  takeClose(): { code: number; reason?: string } | undefined {
    const fault = this.closeOnConnect;
    if (fault === undefined || fault.times <= 0) return undefined;
    fault.times -= 1;
    return fault;
  }

  /** Ends what goes on by itself. */
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
