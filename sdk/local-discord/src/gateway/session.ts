import { type GatewayDispatchPayload, GatewayOpcodes } from 'discord-api-types/v10';
import type { WebSocket } from 'ws';
import type { LocalApplication } from '../state/applications.js';

/** Dispatches kept for RESUME; a client that missed more must identify anew. */
const REPLAY_LIMIT = 1_000;

/** One shard of one bot, from IDENTIFY until its session is invalidated. It survives its sockets, so that it can be resumed. */
export class GatewaySession {
  readonly id: string;
  readonly application: LocalApplication;
  readonly intents: number;
  readonly shard: readonly [index: number, count: number];
  socket: WebSocket | undefined;
  sequence = 0;
  /** Time at which its socket was lost. */
  leftAt: number | undefined;
  /** Called on each heartbeat with the sequence number that the client acknowledges. */
  readonly heartbeatListeners = new Set<(seen: number) => void>();
  readonly #sent: string[] = [];

  constructor(id: string, application: LocalApplication, intents: number, shard: readonly [number, number]) {
    this.id = id;
    this.application = application;
    this.intents = intents;
    this.shard = shard;
  }

  /** Sends an event, or stores it for the next RESUME. `json` is the serialised payload. */
  dispatch(event: DispatchName, json: string): void {
    this.sequence += 1;
    const frame = `{"op":0,"t":"${event}","s":${this.sequence},"d":${json}}`;
    this.#sent.push(frame);
    if (this.#sent.length > 2 * REPLAY_LIMIT) this.#sent.splice(0, REPLAY_LIMIT);
    this.socket?.send(frame);
  }

  /** Sends every event after that sequence number again. @returns `false` when one of them is no longer available, or never existed */
  replay(after: number): boolean {
    const missed = this.sequence - after;
    if (missed < 0 || missed > this.#sent.length) return false;
    for (const frame of missed === 0 ? [] : this.#sent.slice(-missed)) this.socket?.send(frame);
    return true;
  }

  /** Requests a heartbeat from the client. */
  requestHeartbeat(): void {
    this.socket?.send(`{"op":${GatewayOpcodes.Heartbeat},"d":null}`);
  }
}

/** Gateway events by name, each with its payload: `Dispatches['MESSAGE_CREATE']`. */
export type Dispatches = { [P in GatewayDispatchPayload as `${P['t']}`]: P['d'] };

export type DispatchName = keyof Dispatches;
