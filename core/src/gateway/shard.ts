import { type Clock, maxEntries, type Random, sleep, unlessAborted } from '@cinnabar/sdk';
import { Collection } from '@discordjs/collection';
import {
  type IShardingStrategy,
  type SessionInfo,
  type WebSocketManager,
  WebSocketShardEvents,
  WebSocketShardStatus,
} from '@discordjs/ws';
import {
  ChannelType,
  GatewayCloseCodes,
  GatewayDispatchEvents,
  type GatewayDispatchPayload,
  type GatewayIdentifyData,
  GatewayOpcodes,
  type GatewayReadyDispatchData,
  type GatewaySendPayload,
} from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { Lease } from '../cluster/assignment.js';
import type { StoredShard } from '../cluster/sessions.js';
import { type Connection, createOutbox, type Ending, openConnection } from './connection.js';
import { createBackoff, type GatewayInformation, type IdentifyLimits } from './session-limits.js';
import type { SessionRecorder } from './session-recorder.js';
import type { GatewayStatusStore, ShardReport } from './status.js';

interface Dependencies {
  readonly manager: WebSocketManager;
  readonly information: GatewayInformation;
  readonly limits: IdentifyLimits;
  readonly status: GatewayStatusStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Called when Discord has opened a session with these intents. */
  readonly onAccepted: (intents: number) => void;
  /** Whether the shard must not reconnect after this close code. @param asked the intents of the last IDENTIFY */
  readonly isFatal: (code: number, reason: string, asked: number) => boolean;
  /** Set when another process may have had the shards before, and may get them later. */
  readonly shared?: SharedShards | undefined;
}

/** The services for shards that move between processes. */
export interface SharedShards {
  /** While the lease is not held, no event is dispatched, and nothing is sent. */
  readonly lease: Lease;
  /** Resolves when the client is ready: before that, discord.js delays some events, and changes their order. */
  readonly ready: Promise<void>;
  /** Records the progress of the shards. */
  readonly recorder: SessionRecorder;
  /** The stored state of those of the shards that can be resumed, by id. */
  load(shardIds: readonly number[]): Promise<ReadonlyMap<number, StoredShard>>;
}

export interface Sharding extends IShardingStrategy {
  /** Closes the connections so that another process can resume the sessions, which then receive the events that arrive from now on. */
  leave(): Promise<void>;
  /** Opens a new session for each shard, with the present intents; one at a time, so that the other shards still receive events. */
  identifyAnew(): void;
}

/**
 * Replaces the shard loops of @discordjs/ws. These reconnect without a delay, open several connections when `connect` is called meanwhile, and abandon sessions
 * that could be resumed.
 */
export function createSharding({
  manager,
  information,
  limits,
  status,
  clock,
  random,
  onAccepted,
  isFatal,
  shared,
}: Dependencies): Sharding {
  const shards = new Map<number, Shard>();
  const admits = createInteractionIntake();
  let renewal: Promise<void> = Promise.resolve();

  const withParameters = (url: string) => {
    const parameters = new URLSearchParams({ v: manager.options.version, encoding: 'json' });
    return `${url}?${parameters}`;
  };
  // A listener that throws must neither look like a broken connection nor end the shard's loop: the error is reported as an unhandled rejection.
  const announce = async (emit: () => unknown) => {
    emit();
  };

  const build = (shardId: number, shardCount: number, stored: StoredShard | undefined): Shard => {
    // Kept from the IDENTIFY, since the requested intents may have changed by the time that Discord answers.
    let asked = 0;
    return createShard({
      id: shardId,
      shardCount,
      identity() {
        const { token, intents, identifyProperties, largeThreshold, initialPresence } = manager.options;
        asked = intents;
        return {
          token,
          intents,
          properties: identifyProperties,
          compress: false,
          ...(largeThreshold === null ? {} : { large_threshold: largeThreshold }),
          ...(initialPresence === null ? {} : { presence: initialPresence }),
        };
      },
      async address(tried) {
        const { url } = tried ? await information.refreshed() : await information.get();
        return withParameters(url);
      },
      withParameters,
      limits,
      clock,
      random,
      report: status.shard(shardId),
      isFatal: (code, reason) => isFatal(code, reason, asked),
      stored,
      shared,
      events: {
        hello: () => void announce(() => manager.emit(WebSocketShardEvents.Hello, { shardId })),
        ready(data) {
          onAccepted(asked);
          void announce(() => manager.emit(WebSocketShardEvents.Ready, { data, shardId }));
        },
        resumed: () => void announce(() => manager.emit(WebSocketShardEvents.Resumed, { shardId })),
        dispatch(data) {
          if (admits(data)) void announce(() => manager.emit(WebSocketShardEvents.Dispatch, { data, shardId }));
        },
        handed: (payload, session) => shared?.recorder.handed(payload, { shardId, session, intents: asked }),
        closed: (code) => void announce(() => manager.emit(WebSocketShardEvents.Closed, { code, shardId })),
        heartbeat: (heartbeatAt, latency) =>
          void announce(() =>
            manager.emit(WebSocketShardEvents.HeartbeatComplete, {
              ackAt: heartbeatAt + latency,
              heartbeatAt,
              latency,
              shardId,
            }),
          ),
        session(session) {
          void manager.options.updateSessionInfo(shardId, session);
          if (session === null) shared?.recorder.lost(shardId);
        },
      },
    });
  };

  return {
    async spawn(shardIds) {
      const shardCount = await manager.getShardCount();
      const stored = await shared?.load(shardIds);
      const { intents } = manager.options;
      for (const id of shardIds) {
        const left = stored?.get(id);
        // Another version of a plugin may need more intents than the session was opened with.
        const isEnough = left !== undefined && (left.intents & intents) === intents;
        shards.set(id, build(id, shardCount, isEnough ? left : undefined));
      }
    },
    connect() {
      for (const shard of shards.values()) shard.start();
    },
    async destroy() {
      await Promise.all([...shards.values()].map((shard) => shard.stop()));
      shards.clear();
    },
    async leave() {
      await Promise.all([...shards.values()].map((shard) => shard.leave()));
    },
    async send(shardId, payload) {
      await shared?.lease.held();
      const shard = shards.get(shardId);
      if (shard === undefined) throw new RangeError(`There is no shard ${shardId}.`);
      await shard.send(payload);
    },
    fetchStatus: () =>
      new Collection(
        [...shards].map(([id, { ready }]) => [
          id,
          ready ? WebSocketShardStatus.Ready : WebSocketShardStatus.Connecting,
        ]),
      ),
    identifyAnew() {
      renewal = renewal.then(async () => {
        for (const shard of shards.values()) await shard.identifyAnew();
      });
    },
  };
}

/**
 * Processes each interaction before discord.js. One without a `channel` gets one from its `channel_id`, which discord.js ignores.
 * @returns whether to pass it to discord.js: an interaction that was delivered before is dropped
 */
function createInteractionIntake(): (payload: GatewayDispatchPayload) => boolean {
  const seen = new LRUCache<string, true>(maxEntries(REMEMBERED));
  return (payload) => {
    if (payload.t !== GatewayDispatchEvents.InteractionCreate) return true;
    const { id, channel_id: channelId, channel } = payload.d;
    if (seen.has(id)) return false;
    seen.set(id, true);
    // The type has no effect: without guild or recipients, discord.js looks the channel up in its cache, or leaves it to be fetched.
    if (channel === undefined && channelId !== undefined)
      payload.d.channel = { id: channelId, type: ChannelType.GuildText };
    return true;
  };
}

/** The number of interactions whose ids are kept: far more than arrive in the 15 minutes during which an interaction can be answered. */
const REMEMBERED = 20_000;

/** Time limit from IDENTIFY to READY, or from RESUME to the next event: replaying the events of a long absence may take a while in all. */
const READY_WITHIN_MS = 30_000;
/** After this number of failures, attempts alternate between the session's address and Discord's general one. */
const FAILURES_AT_SESSION_ADDRESS = 3;

/** The events that discord.js needs. */
interface ShardEvents {
  hello(): void;
  ready(data: GatewayReadyDispatchData): void;
  resumed(): void;
  dispatch(payload: GatewayDispatchPayload): void;
  /** Called before an event is dispatched; `session` contains its sequence number. */
  handed(payload: GatewayDispatchPayload, session: SessionInfo | undefined): void;
  closed(code: number): void;
  heartbeat(at: number, latencyMs: number): void;
  /** Called with each new session, whose `sequence` is later updated in place; with `null` when there is no session any more. */
  session(session: SessionInfo | null): void;
}

interface ShardOptions {
  readonly id: number;
  readonly shardCount: number;
  readonly identity: () => Omit<GatewayIdentifyData, 'shard'>;
  /** Address of the gateway, with the protocol's parameters. @param tried whether the last known address failed */
  readonly address: (tried: boolean) => Promise<string>;
  readonly withParameters: (url: string) => string;
  readonly limits: IdentifyLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly report: ShardReport;
  readonly events: ShardEvents;
  /** Whether the shard must not reconnect after this close code. */
  readonly isFatal: (code: number, reason: string) => boolean;
  /** The session of the process that had the shard before. */
  readonly stored: StoredShard | undefined;
  readonly shared: Pick<SharedShards, 'lease' | 'ready'> | undefined;
}

type Shard = ReturnType<typeof createShard>;

/**
 * One shard: a loop that has one connection at a time, until it is stopped or a close code is fatal. The session is resumed after each end of a connection,
 * unless Discord has declared it invalid.
 */
function createShard(parts: ShardOptions) {
  const { id, shardCount, identity, address, withParameters, limits, clock, random, report, events, isFatal } = parts;
  const { shared } = parts;
  const stopping = new AbortController();
  /** Resolves when the lease is held, or the shard stops. */
  const held = async () => {
    if (shared !== undefined) await unlessAborted(shared.lease.held(), stopping.signal);
  };
  const backoff = createBackoff(random);
  const outbox = createOutbox(clock);
  const waitingForReady = new Set<() => void>();
  /** The state of the former process, until discord.js has received it. */
  let left = parts.stored;
  let session = left?.session;
  let connection: Connection | undefined;
  let running: Promise<void> | undefined;
  let renewing = false;

  let isClientReady = false;
  void shared?.ready.then(() => {
    isClientReady = true;
  });

  const setSession = (next: SessionInfo | undefined) => {
    session = next;
    if (next === undefined) left = undefined;
    events.session(next ?? null);
  };
  const release = () => {
    for (const resolve of waitingForReady) resolve();
    waitingForReady.clear();
  };

  const urlOf = async () => {
    const { failures } = backoff;
    const ownFails = failures >= FAILURES_AT_SESSION_ADDRESS;
    const own = session?.resumeURL;
    // Discord-compatible servers may send no address.
    if (own && !(ownFails && failures % 2 === 1)) return withParameters(own);
    return address(ownFails);
  };

  /** Dispatches READY and the stored servers to discord.js, so that its state is that of the former process. */
  const restore = ({ session: known, ready, guilds }: StoredShard) => {
    setSession(known);
    const there = [...guilds.values()].flatMap((guild) => guild ?? []);
    const unavailable = (ids: Iterable<string>) => [...ids].map((guildId) => ({ id: guildId, unavailable: true }));
    // READY lists only servers that are stored, so that discord.js does not wait for others.
    events.ready({ ...ready, guilds: unavailable(there.map((guild) => guild.id)) });
    const op = GatewayOpcodes.Dispatch;
    const all = { ...ready, guilds: unavailable(guilds.keys()) };
    events.dispatch({ op, t: GatewayDispatchEvents.Ready, s: 0, d: all });
    for (const guild of there) events.dispatch({ op, t: GatewayDispatchEvents.GuildCreate, s: 0, d: guild });
  };

  /** Runs one connection, from opening the socket to its end. */
  const connectOnce = async (): Promise<Ending & { readyForMs: number | undefined; resumed: boolean }> => {
    // Without the lease, another process may have resumed the session.
    await held();
    let permit = session === undefined ? await limits.permit(stopping.signal) : undefined;
    const url = await urlOf();
    let identified = false;
    let resumed = false;
    let readyAt: number | undefined;
    let arrived: () => void = () => undefined;
    const connectionEnded = new AbortController();

    const identify = async (on: Connection) => {
      // There is no permit yet when the session ended while the socket was opened for resuming it.
      permit ??= await limits.permit(connectionEnded.signal);
      if (permit === undefined || !(await limits.turn(id, connectionEnded.signal))) {
        permit?.release();
        return;
      }
      await held();
      identified = true;
      report.identified();
      on.send({ op: GatewayOpcodes.Identify, d: { ...identity(), shard: [id, shardCount] } });
      arrived = on.expect('READY', READY_WITHIN_MS);
    };
    const resume = async (on: Connection, { sessionId, sequence }: SessionInfo) => {
      await held();
      on.send({ op: GatewayOpcodes.Resume, d: { token: identity().token, session_id: sessionId, seq: sequence } });
      arrived = on.expect('RESUMED', READY_WITHIN_MS);
    };
    const becomeReady = (on: Connection, wasResumed: boolean) => {
      readyAt = clock.now();
      resumed = wasResumed;
      report.ready(wasResumed);
      outbox.open((payload) => on.send(payload));
      release();
    };

    if (stopping.signal.aborted) {
      permit?.release();
      return { code: 1000, reason: 'stopped', sessionLost: false, readyForMs: undefined, resumed: false };
    }
    /** Whether discord.js has received the state of the former process. */
    let isRestored = false;
    const advance = (payload: GatewayDispatchPayload) => {
      if (session !== undefined && payload.s > session.sequence) session.sequence = payload.s;
      events.handed(payload, session);
    };
    const handOn = (payload: GatewayDispatchPayload) => {
      left = undefined;
      switch (payload.t) {
        case GatewayDispatchEvents.Ready: {
          const { session_id: sessionId, resume_gateway_url: resumeURL } = payload.d;
          setSession({ sessionId, resumeURL, sequence: payload.s, shardId: id, shardCount });
          events.ready(payload.d);
          becomeReady(current, false);
          break;
        }
        case GatewayDispatchEvents.Resumed:
          // discord.js has got READY for a session of another process, and must not get RESUMED.
          if (!isRestored) events.resumed();
          becomeReady(current, true);
          advance(payload);
          if (!isRestored) events.dispatch(payload);
          return;
        default:
          // Drops an event that has arrived before, and that Discord has sent again.
          if (session !== undefined && payload.s <= session.sequence) return;
      }
      advance(payload);
      events.dispatch(payload);
    };
    const intake =
      shared === undefined
        ? handOn
        : createIntake({
            handOn,
            mayHandOn: () => shared.lease.isHeld() && (left === undefined || isClientReady),
            async until() {
              if (left !== undefined) await shared.ready;
              await shared.lease.held();
            },
            isOver: () => stopping.signal.aborted || connection !== current,
            onTooMany: () => current.end('too much has come while it could not be handed on'),
          });
    report.connecting();
    const current = openConnection({
      url,
      clock,
      random,
      sequence: () => session?.sequence ?? null,
      onHello() {
        events.hello();
        (session === undefined ? identify(current) : resume(current, session)).catch(() =>
          current.end('the lease is lost'),
        );
      },
      onDispatch(payload) {
        report.received();
        if (readyAt === undefined) {
          arrived();
          if (payload.t !== GatewayDispatchEvents.Ready && payload.t !== GatewayDispatchEvents.Resumed)
            arrived = current.expect('RESUMED', READY_WITHIN_MS);
        }
        if (left !== undefined && !isRestored && payload.t !== GatewayDispatchEvents.Ready) {
          isRestored = true;
          restore(left);
        }
        intake(payload);
      },
      onLatency(ms) {
        report.latency(ms);
        events.heartbeat(clock.now() - ms, ms);
      },
    });
    connection = current;
    const ending = await current.ended;
    connection = undefined;
    connectionEnded.abort();
    outbox.close();
    if (!identified) permit?.release();
    return { ...ending, resumed, readyForMs: readyAt === undefined ? undefined : clock.now() - readyAt };
  };

  /** Runs one connection. An error counts as its end, so that no error ends the loop. */
  const attempt = async () => {
    try {
      return await connectOnce();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { code: 1006, reason, sessionLost: false, readyForMs: undefined, resumed: false };
    }
  };

  /** @returns the delay until the next attempt, in milliseconds; `undefined` when there is none */
  const attemptOnce = async () => {
    const resuming = session !== undefined;
    const ending = await attempt();
    const sessionLost = ending.sessionLost || endsSession(ending.code);
    if (sessionLost && session !== undefined) setSession(undefined);
    const refusedToResume = sessionLost && resuming && ending.readyForMs === undefined;
    const pauseMs = backoff.next({ ...ending, renewing: renewing || refusedToResume });
    renewing = false;
    const last = stopping.signal.aborted ? 'stopped' : isFatal(ending.code, ending.reason) ? 'refused' : undefined;
    report.closed(ending, last ?? { retryInMs: pauseMs });
    events.closed(ending.code);
    return last === undefined ? pauseMs : undefined;
  };

  const run = async () => {
    while (!stopping.signal.aborted) {
      const pauseMs = await attemptOnce();
      if (pauseMs === undefined) break;
      if (pauseMs > 0) await sleep(clock, pauseMs, stopping.signal);
    }
    release();
  };

  return {
    get ready(): boolean {
      return connection !== undefined && outbox.isOpen();
    },
    start(): void {
      running ??= run();
    },
    send: (payload: GatewaySendPayload): Promise<void> => outbox.send(payload),
    /** Abandons the session and opens a new one, with the present intents. Resolves when it is ready, or the shard has ended. */
    async identifyAnew(): Promise<void> {
      const ready = new Promise<void>((resolve) => waitingForReady.add(resolve));
      setSession(undefined);
      renewing = connection !== undefined;
      connection?.end('Identifying with other intents', true);
      await ready;
    },
    /** Closes the connection and ends the loop; the session can be resumed. */
    async leave(): Promise<void> {
      stopping.abort();
      connection?.end('The shard moves to another process');
      await running;
    },
    /** Ends the loop, and the session unless another process may have it. */
    async stop(): Promise<void> {
      stopping.abort();
      connection?.end('The bot stops', shared === undefined);
      await running;
    },
  };
}

/** The maximum number of events that wait for the renewal of a lease. Above it the connection ends, and Discord sends them again to the resumed session. */
const MOST_HELD_BACK = 5_000;

/**
 * Passes events to `handOn` in their order, once `mayHandOn` allows it. Events that still wait at the end of the connection are dropped: Discord sends them
 * again to the process that resumes the session.
 */
function createIntake<T>({
  handOn,
  mayHandOn,
  until,
  isOver,
  onTooMany,
}: {
  readonly handOn: (event: T) => void;
  readonly mayHandOn: () => boolean;
  /** Resolves when `mayHandOn` may have changed; rejects when it will not become `true` any more. */
  readonly until: () => Promise<void>;
  readonly isOver: () => boolean;
  /** Called when more than `MOST_HELD_BACK` events wait. */
  readonly onTooMany: () => void;
}): (event: T) => void {
  const waiting: T[] = [];
  const drain = async () => {
    while (waiting.length > 0) {
      await until();
      while (mayHandOn()) {
        const next = isOver() ? undefined : waiting.shift();
        if (next === undefined) {
          waiting.length = 0;
          return;
        }
        handOn(next);
      }
    }
  };
  return (event) => {
    if (waiting.length === 0 && mayHandOn()) {
      handOn(event);
      return;
    }
    waiting.push(event);
    if (waiting.length > MOST_HELD_BACK) onTooMany();
    // Rejects when the lease is lost: another process gets the events then.
    else if (waiting.length === 1) drain().catch(() => undefined);
  };
}

/** Close codes after which Discord requires a new session; after all others the session can be resumed. */
const ENDS_SESSION: ReadonlySet<number> = new Set([
  GatewayCloseCodes.NotAuthenticated,
  GatewayCloseCodes.InvalidSeq,
  GatewayCloseCodes.SessionTimedOut,
]);

export function endsSession(code: number): boolean {
  return ENDS_SESSION.has(code);
}
