import type { Clock, Random } from '@cinnabar/sdk';
import {
  GatewayCloseCodes,
  type GatewayDispatchPayload,
  GatewayOpcodes,
  type GatewayReceivePayload,
  type GatewaySendPayload,
} from 'discord.js';
import { WebSocket } from 'ws';

/** Time limit from opening the socket to HELLO. */
const HELLO_WITHIN_MS = 20_000;
/** Time limit for the answer to our close frame: shorter than the time that a stop has for it. */
const CLOSE_WITHIN_MS = 400;
/** The close code with which Discord keeps the session for resuming, unlike 1000 and 1001. */
const CLOSE_TO_RESUME = 4_200;
const CLOSE_FOR_GOOD = 1_000;

export interface Ending {
  readonly code: number;
  readonly reason: string;
  /** Whether the session cannot be resumed: after INVALID_SESSION, or a permanent close by the host. */
  readonly sessionLost: boolean;
}

/** One WebSocket to the gateway, from its opening to its end. */
export interface Connection {
  /** Resolves when the socket is closed. Never rejects. */
  readonly ended: Promise<Ending>;
  /** Returns `false` when nothing was sent, because the connection is closing or not open yet. */
  send(payload: GatewaySendPayload): boolean;
  /** Closes the connection after this time unless the returned function is called first. */
  expect(what: string, withinMs: number): () => void;
  /** Closes the connection; the session can be resumed unless it is closed permanently. */
  end(reason: string, forGood?: boolean): void;
}

interface ConnectionOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Sequence number of the last received event: heartbeats carry it. */
  readonly sequence: () => number | null;
  /** Called when it is time to identify or to resume. */
  readonly onHello: () => void;
  readonly onDispatch: (payload: GatewayDispatchPayload) => void;
  readonly onLatency: (ms: number) => void;
}

/**
 * Opens a socket, keeps it alive with heartbeats, and reports how it ended. It never reconnects: the shard decides that.
 * @see https://discord.com/developers/docs/events/gateway#connection-lifecycle
 */
export function openConnection(parts: ConnectionOptions): Connection {
  const { url, clock, random, sequence, onHello, onDispatch, onLatency } = parts;
  const timers = new Set<() => void>();
  let ending: Ending | undefined;
  let networkError: string | undefined;
  let conclude: (ending: Ending) => void = () => undefined;
  const ended = new Promise<Ending>((resolve) => {
    conclude = resolve;
  });

  const socket = open(url);
  if (socket instanceof Error) {
    return {
      ended: Promise.resolve({ code: 1006, reason: socket.message, sessionLost: false }),
      send: () => false,
      expect: () => () => undefined,
      end: () => undefined,
    };
  }

  const after = (delayMs: number, task: () => void) => {
    const cancelTimer = clock.after(delayMs, () => {
      timers.delete(cancel);
      task();
    });
    const cancel = () => {
      timers.delete(cancel);
      cancelTimer();
    };
    timers.add(cancel);
    return cancel;
  };
  const cancelTimers = () => {
    for (const cancel of timers) cancel();
  };
  const finish = (own: Ending, code: number) => {
    if (ending !== undefined) return;
    ending = own;
    cancelTimers();
    if (socket.readyState !== WebSocket.OPEN) {
      socket.terminate();
      return;
    }
    socket.close(code, own.reason.slice(0, 100));
    after(CLOSE_WITHIN_MS, () => socket.terminate());
  };
  const end = (reason: string, forGood = false, sessionLost = false) => {
    const code = forGood ? CLOSE_FOR_GOOD : CLOSE_TO_RESUME;
    finish({ code, reason, sessionLost: sessionLost || forGood }, code);
  };
  /** Ends the connection to a server that is silent, without a close frame, which it would not answer either. */
  const abandon = (reason: string) => {
    if (ending !== undefined) return;
    ending = { code: 1006, reason, sessionLost: false };
    cancelTimers();
    socket.terminate();
  };
  const expect = (what: string, withinMs: number) =>
    after(withinMs, () => abandon(`no ${what} came within ${withinMs / 1_000} s`));

  const send = (payload: GatewaySendPayload, sent?: () => void) => {
    if (ending !== undefined || socket.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(payload), (error) => {
      if (error === undefined || error === null) sent?.();
    });
    return true;
  };

  /** The last heartbeat, until it is acknowledged. */
  let pending: Heartbeat | undefined;
  /** Sends a heartbeat, and the next one after the interval. Ends the connection when the last one is not acknowledged by then, as Discord requires. */
  const heartbeat = (intervalMs: number) => {
    const leftMs = pending === undefined ? 0 : timeLeft(pending, intervalMs, clock.now());
    if (leftMs > 0) {
      after(leftMs, () => heartbeat(intervalMs));
      return;
    }
    if (pending !== undefined) {
      abandon(
        pending.leftAt === undefined ? 'heartbeats can no longer be sent' : 'heartbeats are no longer acknowledged',
      );
      return;
    }
    const own: Heartbeat = { at: clock.now(), leftAt: undefined, hadTurn: false };
    pending = own;
    send({ op: GatewayOpcodes.Heartbeat, d: sequence() }, () => {
      own.leftAt = clock.now();
    });
    setImmediate(() => {
      own.hadTurn = true;
    });
    after(intervalMs, () => heartbeat(intervalMs));
  };

  const onPayload = (payload: GatewayReceivePayload) => {
    switch (payload.op) {
      case GatewayOpcodes.Hello: {
        helloMissing();
        const intervalMs = payload.d.heartbeat_interval;
        // The first heartbeat is sent at a random moment, as Discord requires, so that bots do not send theirs at the same time after an outage.
        after(intervalMs * random.next(), () => heartbeat(intervalMs));
        onHello();
        return;
      }
      case GatewayOpcodes.Dispatch:
        onDispatch(payload);
        return;
      case GatewayOpcodes.Heartbeat:
        send({ op: GatewayOpcodes.Heartbeat, d: sequence() });
        return;
      case GatewayOpcodes.HeartbeatAck:
        if (pending !== undefined) onLatency(clock.now() - pending.at);
        pending = undefined;
        return;
      case GatewayOpcodes.Reconnect:
        end('Discord asked for a new connection');
        return;
      case GatewayOpcodes.InvalidSession:
        end('Discord called the session invalid', false, !payload.d);
    }
  };

  const helloMissing = expect('HELLO', HELLO_WITHIN_MS);
  socket.on('message', (data) => {
    if (ending !== undefined) return;
    const payload = parse(String(data));
    try {
      if (payload === undefined) throw new Error('it is not JSON');
      onPayload(payload);
    } catch (error) {
      const code = GatewayCloseCodes.DecodeError;
      const reason = `what Discord sent cannot be used: ${error instanceof Error ? error.message : String(error)}`;
      finish({ code, reason, sessionLost: false }, code);
    }
  });
  // Never removed: a socket that is terminated while it connects still emits an error, which would end the process without a listener.
  socket.on('error', (error) => {
    networkError = error.message;
  });
  socket.on('close', (code, reason) => {
    cancelTimers();
    ending ??= { code, reason: reason.toString() || networkError || '', sessionLost: false };
    conclude(ending);
  });

  return { ended, send: (payload) => send(payload), expect, end };
}

interface Heartbeat {
  readonly at: number;
  /** When the operating system accepted the heartbeat; `undefined` while it is in the socket's buffer. */
  leftAt: number | undefined;
  /** Set after one more turn of the event loop: by then the system has accepted what it could accept at once. */
  hadTurn: boolean;
}

/**
 * How long the acknowledgement of a heartbeat may still take: one interval from when it was sent, so that a clock that jumps over several intervals leaves
 * time.
 */
function timeLeft({ leftAt, hadTurn }: Heartbeat, intervalMs: number, now: number): number {
  if (leftAt !== undefined) return leftAt + intervalMs - now;
  return hadTurn ? 0 : intervalMs;
}

/** An invalid address counts as a failed connection. */
function open(url: string): WebSocket | Error {
  try {
    return new WebSocket(url, { perMessageDeflate: false });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function parse(text: string): GatewayReceivePayload | undefined {
  try {
    const payload: GatewayReceivePayload = JSON.parse(text);
    return payload;
  } catch {
    return undefined;
  }
}

/** Discord accepts 120 in a minute, heartbeats included, and closes the connection above that. */
const MOST_IN_A_WINDOW = 110;
const WINDOW_MS = 60_000;
/** Maximum number of payloads that wait while the gateway is unreachable. The oldest are dropped: their senders have stopped waiting long before. */
const MOST_WAITING = 1_000;

interface Waiting {
  readonly payload: GatewaySendPayload;
  readonly sent: () => void;
}

/**
 * Sends a shard's payloads other than heartbeats: presence, requests for members, voice states.
 * @see https://discord.com/developers/docs/events/gateway#rate-limiting
 */
export function createOutbox(clock: Clock) {
  const waiting: Waiting[] = [];
  let transmit: ((payload: GatewaySendPayload) => boolean) | undefined;
  let windowEndsAt = 0;
  let sentInWindow = 0;
  let cancel: (() => void) | undefined;

  const flush = () => {
    while (transmit !== undefined && waiting.length > 0) {
      if (clock.now() >= windowEndsAt) {
        windowEndsAt = clock.now() + WINDOW_MS;
        sentInWindow = 0;
      }
      if (sentInWindow >= MOST_IN_A_WINDOW) {
        cancel ??= clock.after(windowEndsAt - clock.now(), () => {
          cancel = undefined;
          flush();
        });
        return;
      }
      const [next] = waiting;
      if (next === undefined) return;
      if (!transmit(next.payload)) {
        // The socket is closing: its end is reported shortly after.
        transmit = undefined;
        return;
      }
      sentInWindow += 1;
      waiting.shift();
      next.sent();
    }
  };

  return {
    /** Resolves when the payload was sent (immediately, or when a connection and Discord's limit allow it), or was dropped. */
    send: (payload: GatewaySendPayload): Promise<void> =>
      new Promise((resolve) => {
        waiting.push({ payload, sent: resolve });
        flush();
        if (waiting.length > MOST_WAITING) waiting.shift()?.sent();
      }),
    /** Called when the connection is ready: sends the waiting payloads. Those for which `send` returns `false` wait for the next connection. */
    open(send: (payload: GatewaySendPayload) => boolean): void {
      transmit = send;
      windowEndsAt = 0;
      flush();
    },
    close(): void {
      transmit = undefined;
      cancel?.();
      cancel = undefined;
    },
    isOpen: (): boolean => transmit !== undefined,
  };
}
