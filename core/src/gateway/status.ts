import { type Clock, type Logger, type OwnerAlert, t } from '@cinnabar/sdk';
import type { Client } from 'discord.js';

/** How a connection ended, or why there was none. Codes below 4000 are WebSocket codes; 1006 means that there was no close frame. */
interface Close {
  readonly code: number;
  /** Discord's reason, otherwise the network error, otherwise the step that timed out. */
  readonly reason: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * `waiting` for its next attempt; `connecting`, from the opening of the socket until READY or RESUMED; `refused`, when Discord closed it for a permanent
 * reason; `stopped` by the host.
 */
type ShardState = 'waiting' | 'connecting' | 'ready' | 'refused' | 'stopped';

export interface ShardStatus {
  readonly id: number;
  readonly state: ShardState;
  /** Milliseconds since the Unix epoch; `undefined` while ready. */
  readonly notReadySince: number | undefined;
  /** Attempts to connect since it was last ready. */
  readonly attempts: number;
  readonly nextAttemptAt: number | undefined;
  readonly lastClose: Close | undefined;
  /** Time between the latest heartbeat and its acknowledgement. */
  readonly latencyMs: number | undefined;
  /** Since the process started: attempts to connect, sessions resumed, sessions opened, connections or attempts that ended. */
  readonly totals: {
    readonly attempts: number;
    readonly resumes: number;
    readonly identifies: number;
    readonly closes: number;
  };
}

type GatewayChange =
  | { readonly kind: 'connecting'; readonly shard: ShardStatus }
  | { readonly kind: 'ready'; readonly shard: ShardStatus; readonly resumed: boolean; readonly awayMs: number }
  | {
      readonly kind: 'closed';
      readonly shard: ShardStatus;
      readonly close: Close;
      /** `undefined`: there will be no further attempt. */
      readonly retryInMs: number | undefined;
    }
  /** Set while Discord does not return the gateway's address (`GET /gateway/bot`). */
  | { readonly kind: 'unreachable'; readonly detail: string; readonly retryInMs: number };

/** Whether the bot receives events: for metrics, `/readyz`, alerts and the log. */
export interface GatewayStatus {
  /** Whether every shard is ready. */
  readonly ready: boolean;
  /** Since when not every shard has been ready; initially the start of the process. `undefined` while all are ready. */
  readonly notReadySince: number | undefined;
  /** The latest close of any shard. */
  readonly lastClose: Close | undefined;
  /** By id; empty until Discord has returned the number of shards. */
  readonly shards: readonly ShardStatus[];
  /** How many events a shard has received since the process started. */
  eventsOf(shard: number): number;
  /** Calls `listener` after each change; returns a function that stops this. */
  onChange(listener: (change: GatewayChange) => void): () => void;
}

/** A shard's reports about itself. */
export interface ShardReport {
  connecting(): void;
  identified(): void;
  ready(resumed: boolean): void;
  closed(close: Omit<Close, 'at'>, next: { readonly retryInMs: number } | 'refused' | 'stopped'): void;
  latency(ms: number): void;
  /** Counts an event. Called for each, so it does nothing else. */
  received(): void;
}

export interface GatewayStatusStore extends GatewayStatus {
  shard(id: number): ShardReport;
  unreachable(detail: string, retryInMs: number): void;
}

export function createGatewayStatus(clock: Clock): GatewayStatusStore {
  const startedAt = clock.now();
  const shards = new Map<number, ShardStatus>();
  const events = new Map<number, { count: number }>();
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
    eventsOf: (shard) => events.get(shard)?.count ?? 0,
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
      const received = events.get(id) ?? { count: 0 };
      events.set(id, received);

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
        received() {
          received.count += 1;
        },
      };
    },
  };
}

/** A warning is logged from this attempt on: most connections are restored by the first. */
const WARN_FROM_ATTEMPT = 2;
/** Interval of warnings about all shards together; the log files have every change. */
const WARN_EVERY_MS = 30_000;

/**
 * Logs the state of the connections to Discord: every change in the files and, while the bot is not ready, periodic warnings with the time since when, the
 * reason, and the next attempt.
 * @returns a function that stops this: a clean stop closes its connections silently
 */
export function logConnections(client: Client, status: GatewayStatus, clock: Clock, log: Logger): () => void {
  // Without a listener, discord.js's own errors would end the process: this listener is never removed.
  client.on('error', (error) => log.error('discord.js reported an error', { error }));

  let warnedAt: number | undefined;
  const warn = (cause: string, retryInMs: number) => {
    const now = clock.now();
    if (warnedAt !== undefined && now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    const since = timeOf(status.notReadySince ?? now);
    log.warn(`Discord: not ready since ${since} (${cause}); trying again in ${seconds(retryInMs)}`);
  };

  const onChange = (change: GatewayChange) => {
    switch (change.kind) {
      case 'connecting':
        log.debug('connecting to the gateway', { shard: change.shard.id, attempt: change.shard.attempts });
        return;
      case 'unreachable':
        warn(change.detail, change.retryInMs);
        return;
      case 'closed': {
        const { shard, close, retryInMs } = change;
        const { code, reason } = close;
        log.info('a gateway connection was closed', { shard: shard.id, code, reason, retryInMs });
        const away = status.shards.filter(({ state }) => state !== 'ready').length;
        const which = status.shards.length > 1 ? `${away} of ${status.shards.length} shards; ` : '';
        const cause = `${which}code ${code}${reason === '' ? '' : `: ${reason}`}`;
        if (retryInMs !== undefined && shard.attempts >= WARN_FROM_ATTEMPT) warn(cause, retryInMs);
        return;
      }
      case 'ready': {
        const { shard, resumed, awayMs } = change;
        log.info(`a gateway connection is ready`, { shard: shard.id, resumed, awayMs });
        if (warnedAt === undefined || !status.ready) return;
        warnedAt = undefined;
        log.warn(`Discord: ready again after ${seconds(awayMs)}`);
      }
    }
  };
  return status.onChange(onChange);
}

/** A time in the format of the terminal's log entries. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, 19);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** How long a shard may be not ready without an alert: short interruptions of Discord end sooner. */
const AWAY_MS = 5 * 60_000;

/**
 * Alerts the bot's owners when a shard was not ready for five minutes. The alert is logged immediately; the message is sent when Discord's REST API is
 * reachable, which it often is while the gateway is not.
 * @returns a function that stops this
 */
export function alertOfAbsence(status: GatewayStatus, clock: Clock, alert: (alert: OwnerAlert) => void): () => void {
  let alertedSince: number | undefined;
  let cancel: () => void = () => undefined;

  const look = () => {
    cancel();
    const since = status.notReadySince;
    if (since === undefined || since === alertedSince) return;
    const leftMs = since + AWAY_MS - clock.now();
    if (leftMs > 0) {
      cancel = clock.after(leftMs, look);
      return;
    }
    alertedSince = since;
    const { lastClose, shards } = status;
    const away = shards.filter(({ state }) => state !== 'ready').length;
    const from = `<t:${Math.floor(since / 1000)}:f>`;
    const values = {
      away,
      shards: shards.length,
      from,
      closed: lastClose === undefined ? 'no' : 'yes',
      close: lastClose === undefined ? '' : `${lastClose.code} ${lastClose.reason}`.trim(),
    };
    alert({
      kind: 'gateway-away',
      text: () =>
        t(
          "{shards, plural, one {The bot was} other {{away} of # shards were}} without a connection to Discord's gateway for more than 5 minutes, from {from} on{closed, select, yes { (last close: {close})} other {}}.",
          values,
        ),
      remedy: () =>
        t(
          'The bot goes on trying by itself. Look at https://discordstatus.com; when Discord is well, look at the network of the machine.',
        ),
      reason: values.close,
    });
  };

  const stop = status.onChange(look);
  look();
  return () => {
    stop();
    cancel();
  };
}
