import { type Clock, type Logger, sleep } from '@cinnabar/sdk';
import type { SessionInfo } from '@discordjs/ws';
import {
  type APIThreadChannel,
  GatewayDispatchEvents,
  type GatewayDispatchPayload,
  type GatewayGuildCreateDispatchData,
  type GatewayReadyDispatchData,
} from 'discord.js';
import type { GuildChange, SessionStore, ShardChange, StoredGuild } from '../cluster/sessions.js';

/** Minimum interval between two writes for a busy shard. */
const LEAST_INTERVAL_MS = 100;
/** Delay before the next attempt when the database is unreachable. */
const RETRY_MS = 500;

/** Stores the progress of each shard in the database, so that another process can resume it. */
export interface SessionRecorder {
  /** Called for each event that is dispatched to discord.js. */
  handed(payload: GatewayDispatchPayload, from: HandedFrom): void;
  /** Called when the session of a shard cannot be resumed any more. */
  lost(shardId: number): void;
  /** Resolves once all events dispatched so far are stored: after that, no other process gets them again. */
  stored(): Promise<void>;
  /** Stops storing. */
  stop(): void;
}

/** Where an event came from. */
interface HandedFrom {
  readonly shardId: number;
  /** The session, with the event's sequence number. */
  readonly session: SessionInfo | undefined;
  /** The intents in the session's IDENTIFY. */
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

/** Appends later events to earlier ones. When a session has begun in `later`, drops the earlier events of its shard. */
const merged = (earlier: Pending, later: Pending): Pending => ({
  sessions: new Map([...earlier.sessions, ...later.sessions]),
  begun: new Map([...earlier.begun, ...later.begun]),
  events: [...earlier.events.filter(({ shardId }) => !later.begun.has(shardId)), ...later.events],
  waiting: [...earlier.waiting, ...later.waiting],
});

const nothing = (): Pending => ({ sessions: new Map(), begun: new Map(), events: [], waiting: [] });

export function createSessionRecorder(options: {
  readonly store: SessionStore;
  /** Resolves when the client is ready. Nothing is stored before, since no event has reached a listener yet. */
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
      // With a new session, the bot is not in stored servers that READY does not list. The listed ones arrive one by one.
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
      // A copy, since the shard changes the sequence number of `session` in place.
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

/** The server that an event changes; `undefined` for an event that changes no server. */
function changedGuild(payload: GatewayDispatchPayload, ownId: string): string | undefined {
  switch (payload.t) {
    case GatewayDispatchEvents.GuildCreate:
    case GatewayDispatchEvents.GuildUpdate:
    case GatewayDispatchEvents.GuildDelete:
      return payload.d.id;
    case GatewayDispatchEvents.ChannelCreate:
    case GatewayDispatchEvents.ChannelUpdate:
    case GatewayDispatchEvents.ChannelDelete:
    case GatewayDispatchEvents.ThreadCreate:
    case GatewayDispatchEvents.ThreadUpdate:
    case GatewayDispatchEvents.ThreadDelete:
    case GatewayDispatchEvents.ThreadListSync:
    case GatewayDispatchEvents.ThreadMemberUpdate:
    case GatewayDispatchEvents.ThreadMembersUpdate:
    case GatewayDispatchEvents.GuildMemberAdd:
    case GatewayDispatchEvents.GuildMemberRemove:
    case GatewayDispatchEvents.GuildRoleCreate:
    case GatewayDispatchEvents.GuildRoleUpdate:
    case GatewayDispatchEvents.GuildRoleDelete:
    case GatewayDispatchEvents.GuildEmojisUpdate:
    case GatewayDispatchEvents.GuildStickersUpdate:
    case GatewayDispatchEvents.StageInstanceCreate:
    case GatewayDispatchEvents.StageInstanceUpdate:
    case GatewayDispatchEvents.StageInstanceDelete:
    case GatewayDispatchEvents.GuildScheduledEventCreate:
    case GatewayDispatchEvents.GuildScheduledEventUpdate:
    case GatewayDispatchEvents.GuildScheduledEventDelete:
      return payload.d.guild_id;
    // May be an event of a direct message, without a guild.
    case GatewayDispatchEvents.ChannelPinsUpdate:
    case GatewayDispatchEvents.VoiceStateUpdate:
      return payload.d.guild_id;
    case GatewayDispatchEvents.GuildMemberUpdate:
      return payload.d.user.id === ownId ? payload.d.guild_id : undefined;
    default:
      return undefined;
  }
}

/**
 * A server after an event. Of its members only the bot itself is kept, and no presences: other members arrive with their messages.
 * @param guild the stored state; `undefined` when there is none
 * @returns `undefined` when the bot is not in the server any more
 */
function afterEvent(
  guild: StoredGuild | undefined,
  payload: GatewayDispatchPayload,
  ownId: string,
): StoredGuild | undefined {
  if (payload.t === GatewayDispatchEvents.GuildCreate) return slim(payload.d, ownId);
  if (payload.t === GatewayDispatchEvents.GuildDelete) return payload.d.unavailable === true ? null : undefined;
  // Discord sends all data anew when the server is available again.
  if (guild === undefined || guild === null) return guild;
  switch (payload.t) {
    case GatewayDispatchEvents.GuildUpdate:
      return { ...guild, ...payload.d };
    case GatewayDispatchEvents.ChannelCreate:
    case GatewayDispatchEvents.ChannelUpdate:
      return { ...guild, channels: put(guild.channels, payload.d) };
    case GatewayDispatchEvents.ChannelDelete: {
      const { id } = payload.d;
      const threads = guild.threads.filter((thread) => thread.parent_id !== id);
      return { ...guild, channels: without(guild.channels, id), threads };
    }
    case GatewayDispatchEvents.ThreadCreate:
    case GatewayDispatchEvents.ThreadUpdate:
      return { ...guild, threads: withThreads(guild.threads, [payload.d]) };
    case GatewayDispatchEvents.ThreadDelete:
      return { ...guild, threads: without(guild.threads, payload.d.id) };
    case GatewayDispatchEvents.ThreadListSync: {
      const { channel_ids: parents, threads, members } = payload.d;
      const others = guild.threads.filter(
        ({ parent_id: parent }) => parents !== undefined && !parents.includes(parent ?? ''),
      );
      const joined = threads.map((thread) => {
        const member = members.find(({ id }) => id === thread.id);
        return member === undefined ? thread : { ...thread, member };
      });
      return { ...guild, threads: withThreads(others, joined) };
    }
    case GatewayDispatchEvents.ThreadMemberUpdate: {
      const { guild_id: _, ...member } = payload.d;
      const threads = guild.threads.map((thread) => (thread.id === member.id ? { ...thread, member } : thread));
      return { ...guild, threads };
    }
    case GatewayDispatchEvents.ThreadMembersUpdate: {
      const { id, member_count: count, removed_member_ids: removed = [] } = payload.d;
      const threads = guild.threads.map((thread) => {
        if (thread.id !== id) return thread;
        const { member, ...others } = thread;
        return {
          ...others,
          member_count: count,
          ...(member === undefined || removed.includes(ownId) ? {} : { member }),
        };
      });
      return { ...guild, threads };
    }
    case GatewayDispatchEvents.ChannelPinsUpdate: {
      const { channel_id: id, last_pin_timestamp: at } = payload.d;
      const pinned = <T extends HasId>(list: readonly T[]) =>
        list.map((one) => (one.id === id ? { ...one, last_pin_timestamp: at ?? null } : one));
      return { ...guild, channels: pinned(guild.channels), threads: pinned(guild.threads) };
    }
    case GatewayDispatchEvents.VoiceStateUpdate: {
      const { member: _, ...state } = payload.d;
      const others = guild.voice_states.filter(({ user_id: id }) => id !== state.user_id);
      return { ...guild, voice_states: state.channel_id === null ? others : [...others, state] };
    }
    case GatewayDispatchEvents.GuildMemberAdd:
      return { ...guild, member_count: guild.member_count + 1 };
    case GatewayDispatchEvents.GuildMemberRemove:
      return { ...guild, member_count: guild.member_count - 1 };
    case GatewayDispatchEvents.GuildRoleCreate:
    case GatewayDispatchEvents.GuildRoleUpdate:
      return { ...guild, roles: put(guild.roles, payload.d.role) };
    case GatewayDispatchEvents.GuildRoleDelete:
      return { ...guild, roles: without(guild.roles, payload.d.role_id) };
    case GatewayDispatchEvents.GuildEmojisUpdate:
      return { ...guild, emojis: payload.d.emojis };
    case GatewayDispatchEvents.GuildStickersUpdate:
      return { ...guild, stickers: payload.d.stickers };
    case GatewayDispatchEvents.StageInstanceCreate:
    case GatewayDispatchEvents.StageInstanceUpdate:
      return { ...guild, stage_instances: put(guild.stage_instances, payload.d) };
    case GatewayDispatchEvents.StageInstanceDelete:
      return { ...guild, stage_instances: without(guild.stage_instances, payload.d.id) };
    case GatewayDispatchEvents.GuildScheduledEventCreate:
    case GatewayDispatchEvents.GuildScheduledEventUpdate:
      return { ...guild, guild_scheduled_events: put(guild.guild_scheduled_events, payload.d) };
    case GatewayDispatchEvents.GuildScheduledEventDelete:
      return { ...guild, guild_scheduled_events: without(guild.guild_scheduled_events, payload.d.id) };
    case GatewayDispatchEvents.GuildMemberUpdate: {
      const [own] = guild.members.filter(({ user }) => user.id === ownId);
      return own === undefined ? guild : { ...guild, members: [{ ...own, ...payload.d, joined_at: own.joined_at }] };
    }
    default:
      return guild;
  }
}

function slim(guild: GatewayGuildCreateDispatchData, ownId: string): GatewayGuildCreateDispatchData {
  return { ...guild, presences: [], members: guild.members.filter(({ user }) => user.id === ownId) };
}

/** Archived threads do not belong to a server's active ones. Fields about the bot's membership that are absent do not change. */
function withThreads(threads: readonly APIThreadChannel[], changed: readonly APIThreadChannel[]): APIThreadChannel[] {
  let all = [...threads];
  for (const thread of changed) {
    const known = all.find(({ id }) => id === thread.id);
    const isArchived = thread.thread_metadata?.archived === true;
    all = isArchived ? without(all, thread.id) : put(all, known === undefined ? thread : { ...known, ...thread });
  }
  return all;
}

interface HasId {
  readonly id: string;
}
const without = <T extends HasId>(list: readonly T[], id: string): T[] => list.filter((one) => one.id !== id);
/** Replaces an element at its index, so that the order of channels and roles does not change; appends a new one. */
const put = <T extends HasId>(list: readonly T[], changed: T): T[] =>
  list.some(({ id }) => id === changed.id)
    ? list.map((one) => (one.id === changed.id ? changed : one))
    : [...list, changed];
