import type { Clock } from '@cinnabar/sdk';
import type { GatewaySendPayload } from 'discord.js';

/** Discord takes 120 in a minute, heartbeats included, and closes the connection above. */
const MOST_IN_A_WINDOW = 110;
const WINDOW_MS = 60_000;
/** While the gateway is away; the oldest are given up, those who asked have long stopped waiting. */
const MOST_WAITING = 1_000;

/** What a shard has to say beside its heartbeats: presence, requests for members, voice states. */
export interface Outbox {
  /** Resolves when it was sent, at once or when there is a connection and Discord's limit admits it; or when it was given up. */
  send(payload: GatewaySendPayload): Promise<void>;
  /** The connection is ready: sends what has waited. What `send` returns `false` for waits for the next connection. */
  open(send: (payload: GatewaySendPayload) => boolean): void;
  close(): void;
  isOpen(): boolean;
}

interface Waiting {
  readonly payload: GatewaySendPayload;
  readonly sent: () => void;
}

/** @see https://discord.com/developers/docs/events/gateway#rate-limiting */
export function createOutbox(clock: Clock): Outbox {
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
        // The socket is closing: its end is reported a little later.
        transmit = undefined;
        return;
      }
      sentInWindow += 1;
      waiting.shift();
      next.sent();
    }
  };

  return {
    send: (payload) =>
      new Promise((resolve) => {
        waiting.push({ payload, sent: resolve });
        flush();
        if (waiting.length > MOST_WAITING) waiting.shift()?.sent();
      }),
    open(send) {
      transmit = send;
      windowEndsAt = 0;
      flush();
    },
    close() {
      transmit = undefined;
      cancel?.();
      cancel = undefined;
    },
    isOpen: () => transmit !== undefined,
  };
}
