import type { ActResult, UserAct, UserEvent, UserReply } from '@cinnabar/local-discord';
import { t, translated } from './texts';

/** `offline`: reconnects automatically. `refused`: another address is needed. */
export type ConnectionState = 'connecting' | 'online' | 'offline' | 'refused';

export interface Connection {
  /** Resolves with the server's answer; rejects with its error sentence. */
  act<A extends UserAct>(act: A): Promise<ActResult<A['act']>>;
  close(): void;
}

interface Waiting {
  /** Resolves with the whole response, unchanged. */
  resolve(json: string): void;
  reject(error: Error): void;
}

const LONGEST_PAUSE_MS = 5_000;
const HEARTBEAT_MS = 20_000;
const FIRST_REFUSAL = 4_000;

/** Connects, and reconnects whenever the connection is lost; each connection begins with a snapshot. */
export function connect(
  address: { key: string; as: string },
  onEvent: (event: UserEvent) => void,
  onState: (state: ConnectionState) => void,
): Connection {
  let socket: WebSocket | undefined;
  let pauseMs = 250;
  let next = 1;
  let closed = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  /** Whether a message has arrived since the last heartbeat was sent. */
  let alive = true;
  const waiting = new Map<number, Waiting>();

  const open = () => {
    const url = new URL('/local/users', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = new URLSearchParams(address).toString();
    const current = new WebSocket(url);
    socket = current;
    current.addEventListener('message', ({ data }) => {
      alive = true;
      pauseMs = 250;
      const came: UserEvent | UserReply = JSON.parse(String(data));
      if ('event' in came) {
        if (came.event === 'snapshot') onState('online');
        onEvent(came);
        return;
      }
      const waiter = came.re === null ? undefined : waiting.get(came.re);
      if (came.re !== null) waiting.delete(came.re);
      if ('error' in came) waiter?.reject(new Error(translated(came.error)));
      else waiter?.resolve(String(data));
    });
    current.addEventListener('close', ({ code }) => {
      for (const { reject } of waiting.values()) reject(new Error(t('The connection was lost. Try again.')));
      waiting.clear();
      if (closed || socket !== current) return;
      if (code >= FIRST_REFUSAL) {
        onState('refused');
        return;
      }
      onState('offline');
      retry = setTimeout(open, pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    });
  };
  const request = <A extends UserAct>(act: A) =>
    new Promise<ActResult<A['act']>>((resolve, reject) => {
      if (socket?.readyState !== WebSocket.OPEN) {
        reject(new Error(t('There is no connection at the moment.')));
        return;
      }
      const id = next;
      next += 1;
      waiting.set(id, { resolve: (json) => resolve(JSON.parse(json).ok), reject });
      socket.send(JSON.stringify({ id, ...act }));
    });
  const heartbeat = setInterval(() => {
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (!alive) socket.close();
    alive = false;
    request({ act: 'ping' }).catch(() => undefined);
  }, HEARTBEAT_MS);
  onState('connecting');
  open();
  return {
    act: request,
    close: () => {
      closed = true;
      clearInterval(heartbeat);
      clearTimeout(retry);
      socket?.close();
    },
  };
}
