import { type Clock, type Logger, sleep } from '@cinnabar/sdk';
import type { SessionInfo } from '@discordjs/ws';
import { GatewayDispatchEvents, type GatewayDispatchPayload, type GatewayReadyDispatchData } from 'discord.js';
import type { GuildChange, SessionStore, ShardChange, StoredGuild } from '../cluster/sessions.js';
import { afterEvent, changedGuild } from './guild-snapshot.js';

/** Minimum interval between two writes for a busy shard. */
const LEAST_INTERVAL_MS = 100;
/** Delay before the next attempt when the database is unreachable. */
const RETRY_MS = 500;

/** Stores the progress of each shard in the database, so that another process can resume it. */
export interface SessionRecorder {
  /** An event was handed on. */
  handed(payload: GatewayDispatchPayload, from: HandedFrom): void;
  /** There is no session to resume any more. */
  lost(shardId: number): void;
  /** Resolves once all events handed on so far are stored: after that, no other process gets them again. */
  stored(): Promise<void>;
  /** Stops storing. */
  stop(): void;
}

/** Where an event came from. */
export interface HandedFrom {
  readonly shardId: number;
  /** With the event's sequence number. */
  readonly session: SessionInfo | undefined;
  /** The number of shards in the session's IDENTIFY. */
  readonly intents: number;
}

interface Pending {
  readonly sessions: Map<number, SessionInfo | undefined>;
  readonly begun: Map<number, Begun>;
  readonly events: { readonly shardId: number; readonly guildId: string; readonly payload: GatewayDispatchPayload }[];
  readonly waiting: (() => void)[];
}

interface Begun {
  readonly ready: GatewayReadyDispatchData;
  readonly intents: number;
}

/** Later events are newer; events from before the start of a session belong to an earlier one. */
const merged = (earlier: Pending, later: Pending): Pending => ({
  sessions: new Map([...earlier.sessions, ...later.sessions]),
  begun: new Map([...earlier.begun, ...later.begun]),
  events: [...earlier.events.filter(({ shardId }) => !later.begun.has(shardId)), ...later.events],
  waiting: [...earlier.waiting, ...later.waiting],
});

const nothing = (): Pending => ({ sessions: new Map(), begun: new Map(), events: [], waiting: [] });

export function createSessionRecorder(options: {
  readonly store: SessionStore;
  /** Nothing is stored before: events so far have not reached any listener yet. */
  readonly ready: Promise<void>;
  /** The bot's user id; '' while it is not known. */
  readonly ownId: () => string;
  readonly clock: Clock;
  readonly log: Logger;
}): SessionRecorder {
  const { store, ready, ownId, clock, log } = options;
  const stopping = new AbortController();
  let pending = nothing();
  let inFlight: Pending | undefined;
  let isRunning = false;

  const isIdle = () => pending.sessions.size === 0;
  const run = async () => {
    isRunning = true;
    await ready;
    while (!isIdle() && !stopping.signal.aborted) {
      const batch = pending;
      pending = nothing();
      inFlight = batch;
      const isSaved = await save(batch);
      inFlight = undefined;
      if (isSaved) for (const resolve of batch.waiting) resolve();
      else pending = merged(batch, pending);
      await sleep(clock, isSaved ? LEAST_INTERVAL_MS : RETRY_MS, stopping.signal);
    }
    isRunning = false;
  };
  const soon = () => {
    if (!isRunning) void run();
  };

  const save = async ({ sessions, begun, events }: Pending): Promise<boolean> => {
    try {
      const shards = [...sessions].map(([shardId, session]): ShardChange => {
        const { ready: said, intents } = begun.get(shardId) ?? {};
        return { shardId, session, intents, ready: said === undefined ? undefined : { ...said, guilds: [] } };
      });
      await store.save(shards, await changesOf(begun, events));
      return true;
    } catch (error) {
      if (!stopping.signal.aborted) log.debug('how far the shards have come could not be stored', { error });
      return false;
    }
  };

  const changesOf = async (begun: Pending['begun'], events: Pending['events']) => {
    const changes = new Map<string, GuildChange>();
    for (const [
      shardId,
      {
        ready: { guilds },
      },
    ] of begun) {
      // A new session: servers that are not in it are gone, and the others arrive one by one.
      for (const id of await store.guildsOf(shardId)) changes.set(id, { shardId, guild: undefined });
      for (const { id } of guilds) changes.set(id, { shardId, guild: null });
    }
    const unknown = [...new Set(events.map(({ guildId }) => guildId))].filter((id) => !changes.has(id));
    const known = unknown.length === 0 ? new Map<string, StoredGuild>() : await store.guilds(unknown);
    for (const { shardId, guildId, payload } of events) {
      const before = changes.has(guildId) ? changes.get(guildId)?.guild : known.get(guildId);
      changes.set(guildId, { shardId, guild: afterEvent(before, payload, ownId()) });
    }
    return changes;
  };

  return {
    handed(payload, { shardId, session, intents }) {
      // Its sequence number keeps changing in place.
      pending.sessions.set(shardId, session === undefined ? undefined : { ...session });
      if (payload.t === GatewayDispatchEvents.Ready) {
        pending.begun.set(shardId, { ready: payload.d, intents });
        for (let index = pending.events.length - 1; index >= 0; index -= 1)
          if (pending.events[index]?.shardId === shardId) pending.events.splice(index, 1);
      } else {
        const guildId = changedGuild(payload, ownId());
        if (guildId !== undefined) pending.events.push({ shardId, guildId, payload });
      }
      soon();
    },
    lost(shardId) {
      pending.sessions.set(shardId, undefined);
      soon();
    },
    stored() {
      const batch = isIdle() ? inFlight : pending;
      return batch === undefined ? Promise.resolve() : new Promise((resolve) => batch.waiting.push(resolve));
    },
    stop: () => stopping.abort(),
  };
}
