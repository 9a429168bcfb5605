import type { WebSocket } from 'ws';
import type { Clock } from '../state/events.js';

/** A client's attempt to connect, as the server sees it. */
export interface ConnectionAttempt {
  readonly at: number;
  /** Set once a session is opened or resumed. */
  shard?: number;
  /** The request, and whether it was granted. */
  asked?: 'identify' | 'resume';
  granted?: boolean;
  /** Number of events that were sent again after a RESUME. */
  replayed?: number;
  /** A fault prevented the WebSocket, or closed it at once. */
  failed?: boolean;
  endedAt?: number;
  /** The code with which either side closed it; 1006 for a socket that was cut. */
  closedWith?: number;
}

/** Sums over the logged attempts. */
interface ConnectionCounts {
  readonly identifies: number;
  readonly resumes: number;
  /** IDENTIFYs and RESUMEs that were not granted. */
  readonly refused: number;
  /** Events that were sent again after RESUMEs. */
  readonly replayed: number;
}

/** The connections of clients to the gateway, for tests of their connection behaviour. */
export interface ConnectionLog {
  readonly counts: ConnectionCounts;
  /** Oldest first; above 10,000 the oldest are dropped. */
  readonly attempts: readonly ConnectionAttempt[];
  /** Sockets that are open now, including those that have not identified. */
  readonly open: ReadonlySet<WebSocket>;
  reset(): void;
}

export interface ConnectionRecorder extends ConnectionLog {
  attempt(): ConnectionAttempt;
  opened(socket: WebSocket, attempt: ConnectionAttempt): void;
}

const KEPT = 10_000;

export function createConnectionLog(clock: Clock): ConnectionRecorder {
  const attempts: ConnectionAttempt[] = [];
  const open = new Set<WebSocket>();
  const granted = (asked: ConnectionAttempt['asked']) =>
    attempts.filter((attempt) => attempt.asked === asked && attempt.granted === true).length;
  return {
    get counts() {
      return {
        identifies: granted('identify'),
        resumes: granted('resume'),
        refused: attempts.filter((attempt) => attempt.granted === false).length,
        replayed: attempts.reduce((sum, { replayed = 0 }) => sum + replayed, 0),
      };
    },
    attempts,
    open,
    reset: () => void attempts.splice(0),
    attempt() {
      const attempt: ConnectionAttempt = { at: clock.now() };
      attempts.push(attempt);
      if (attempts.length > KEPT) attempts.shift();
      return attempt;
    },
    opened(socket, attempt) {
      open.add(socket);
      socket.on('close', (code) => {
        attempt.closedWith = code;
        open.delete(socket);
        attempt.endedAt = clock.now();
      });
    },
  };
}
