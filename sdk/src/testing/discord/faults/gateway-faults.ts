import { GatewayOpcodes } from 'discord-api-types/v10';
import type { World } from '../state/world.js';

/** Makes the gateway misbehave. */
export class GatewayFaults {
  /** Refuse this many connections (HTTP 503 instead of a WebSocket). */
  refuseConnections = 0;
  /** Close the next connections at once with this code. */
  closeOnConnect: { code: number; times: number } | undefined;
  /** Stop acknowledging heartbeats: a zombie connection. */
  muteHeartbeatAcks = false;
  /** Answer every RESUME with INVALID_SESSION (`resumable: false`). */
  refuseResume = false;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Cuts all sockets without a close frame. The sessions stay resumable. */
  dropSockets(): void {
    for (const { socket } of this.#world.sessions) socket?.terminate();
  }

  /** Closes all sockets with a code. */
  closeSockets(code: number): void {
    for (const { socket } of this.#world.sessions) socket?.close(code);
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

  /** Ends what goes on by itself. */
  clear(): void {
    this.refuseConnections = 0;
    this.closeOnConnect = undefined;
    this.muteHeartbeatAcks = false;
    this.refuseResume = false;
  }

  #send(payload: object): void {
    const frame = JSON.stringify(payload);
    for (const { socket } of this.#world.sessions) socket?.send(frame);
  }
}
