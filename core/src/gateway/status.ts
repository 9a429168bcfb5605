import type { Clock } from '@cinnabar/sdk';

/** How a connection ended, or why there was none. Codes below 4000 are of WebSocket itself; 1006: no close frame came. */
export interface Close {
  readonly code: number;
  /** Discord's own words, else the error of the network, else what was waited for in vain. */
  readonly reason: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * `waiting`: for its next attempt. `connecting`: from the opening of the socket until READY or RESUMED. `refused`: Discord ended it for a
 * reason that waiting cannot mend. `stopped`: by the host.
 */
export type ShardState = 'waiting' | 'connecting' | 'ready' | 'refused' | 'stopped';

export interface ShardStatus {
  readonly id: number;
  readonly state: ShardState;
  /** Milliseconds since the Unix epoch; `undefined` while ready. */
  readonly notReadySince: number | undefined;
  /** Attempts to connect since it was last ready. */
  readonly attempts: number;
  readonly nextAttemptAt: number | undefined;
  readonly lastClose: Close | undefined;
  /** Between the latest heartbeat and its acknowledgement. */
  readonly latencyMs: number | undefined;
  /** Since the process started: attempts to connect, sessions resumed, sessions opened, connections or attempts that ended. */
  readonly totals: {
    readonly attempts: number;
    readonly resumes: number;
    readonly identifies: number;
    readonly closes: number;
  };
}

export type GatewayChange =
  | { readonly kind: 'connecting'; readonly shard: ShardStatus }
  | { readonly kind: 'ready'; readonly shard: ShardStatus; readonly resumed: boolean; readonly awayMs: number }
  | {
      readonly kind: 'closed';
      readonly shard: ShardStatus;
      readonly close: Close;
      /** `undefined`: it will not be tried again. */
      readonly retryInMs: number | undefined;
    }
  /** Discord does not say where its gateway is (`GET /gateway/bot`). */
  | { readonly kind: 'unreachable'; readonly detail: string; readonly retryInMs: number };

/** Whether the bot hears Discord: for metrics, `/readyz`, alerts and the log. */
export interface GatewayStatus {
  /** Whether every shard is ready. */
  readonly ready: boolean;
  /** Since when not every shard has been ready; at first, since the process started. `undefined` while all are. */
  readonly notReadySince: number | undefined;
  /** The latest of any shard. */
  readonly lastClose: Close | undefined;
  /** By id; none until Discord has said how many there are to be. */
  readonly shards: readonly ShardStatus[];
  /** Calls `listener` after each change; returns how to end that. */
  onChange(listener: (change: GatewayChange) => void): () => void;
}

/** What a shard reports of itself. */
export interface ShardReport {
  connecting(): void;
  identified(): void;
  ready(resumed: boolean): void;
  closed(close: Omit<Close, 'at'>, next: { readonly retryInMs: number } | 'refused' | 'stopped'): void;
  latency(ms: number): void;
}

export interface GatewayStatusStore extends GatewayStatus {
  shard(id: number): ShardReport;
  unreachable(detail: string, retryInMs: number): void;
}

export function createGatewayStatus(clock: Clock): GatewayStatusStore {
  const startedAt = clock.now();
  const shards = new Map<number, ShardStatus>();
  const listeners = new Set<(change: GatewayChange) => void>();
  const list = () => [...shards.values()].sort((one, other) => one.id - other.id);
  const announce = (change: GatewayChange) => {
    for (const listener of listeners) listener(change);
  };

  return {
    get ready() {
      return shards.size > 0 && list().every(({ state }) => state === 'ready');
    },
    get notReadySince() {
      if (shards.size === 0) return startedAt;
      const since = list().flatMap(({ notReadySince }) => notReadySince ?? []);
      return since.length === 0 ? undefined : Math.min(...since);
    },
    get lastClose() {
      const closes = list().flatMap(({ lastClose }) => lastClose ?? []);
      return closes.sort((one, other) => other.at - one.at)[0];
    },
    get shards() {
      return list();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    unreachable: (detail, retryInMs) => announce({ kind: 'unreachable', detail, retryInMs }),
    shard(id) {
      let current: ShardStatus = {
        id,
        state: 'waiting',
        notReadySince: startedAt,
        attempts: 0,
        nextAttemptAt: undefined,
        lastClose: undefined,
        latencyMs: undefined,
        totals: { attempts: 0, resumes: 0, identifies: 0, closes: 0 },
      };
      const update = (change: Partial<ShardStatus>) => {
        current = { ...current, ...change };
        shards.set(id, current);
        return current;
      };
      const count = (what: keyof ShardStatus['totals']) => ({ ...current.totals, [what]: current.totals[what] + 1 });
      update({});

      return {
        connecting() {
          const shard = update({
            state: 'connecting',
            attempts: current.attempts + 1,
            nextAttemptAt: undefined,
            totals: count('attempts'),
          });
          announce({ kind: 'connecting', shard });
        },
        identified: () => void update({ totals: count('identifies') }),
        ready(resumed) {
          const awayMs = clock.now() - (current.notReadySince ?? clock.now());
          const totals = resumed ? count('resumes') : current.totals;
          const shard = update({ state: 'ready', notReadySince: undefined, attempts: 0, totals });
          announce({ kind: 'ready', shard, resumed, awayMs });
        },
        closed(ending, next) {
          const at = clock.now();
          const close = { ...ending, at };
          const retryInMs = typeof next === 'string' ? undefined : next.retryInMs;
          const shard = update({
            state: typeof next === 'string' ? next : 'waiting',
            notReadySince: current.notReadySince ?? at,
            nextAttemptAt: retryInMs === undefined ? undefined : at + retryInMs,
            lastClose: close,
            totals: count('closes'),
          });
          announce({ kind: 'closed', shard, close, retryInMs });
        },
        latency: (latencyMs) => void update({ latencyMs }),
      };
    },
  };
}
