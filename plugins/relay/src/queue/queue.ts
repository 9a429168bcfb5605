import { type Clock, createKeyedMutex, type FairBounds, type Logger, type Random } from '@cinnabar/sdk';
import type { Deliver } from '../delivery/deliver.js';
import { concerns, type RelayEvent, without } from '../events/event.js';
import { type Breakers, createAttempts, createServeChannel, type Failure } from './attempts.js';
import { createDispatcher, type Stall } from './dispatcher.js';
import { type ChannelQueue, createQueueState, type QueueRecord, type QueueState, type QueueStore } from './state.js';

/** Settings that may delay a channel's or a guild's events. Read for each decision, so that a change takes effect at once. */
export interface QueueRules {
  /** Minimum time between two batches of a channel. */
  readonly rateLimitMs: number;
  /** Maximum number of waiting events of a guild, or of one person's direct messages. */
  readonly maxQueueSize: number;
  readonly whenFull: 'refuse-newest' | 'drop-oldest';
  readonly paused: boolean;
  /** After this time, the watchdog aborts an attempt. */
  readonly attemptLimitMs?: number;
}

export interface RelayQueueOptions {
  readonly store: QueueStore;
  readonly rulesFor: (guildId: string | null, channelId: string) => Promise<QueueRules>;
  /** The global name of the event's agent, by the current settings. Guilds that share an agent share its circuit breaker. */
  readonly agentFor: (event: RelayEvent) => Promise<string>;
  readonly deliver: Deliver;
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Number of channels that are served at the same time; read each time. */
  readonly bound: () => FairBounds;
  /** Maximum number of events in a batch. */
  readonly mostTogether?: number;
  /** Called when the watchdog has found and corrected a channel that stood still. */
  readonly onStall?: (stall: Stall) => unknown;
  readonly onDropped: (drop: Drop) => unknown;
  /** Called before the failure is recorded; after a crash in between, it is called again. */
  readonly onFailed: (failure: Failure) => unknown;
}

/** The context of the queue's functions. */
export interface QueueContext extends RelayQueueOptions {
  readonly state: QueueState;
  /** Applies a record to the state at once; resolves when it is on the disk. Effects must wait for that. */
  readonly write: (record: QueueRecord) => Promise<void>;
  /** Aborts when the queue stops. */
  readonly signal: AbortSignal;
}

const DROPS_EVERY_MS = 15 * 60_000;
/** Limit for reading settings before an attempt. */
const SETTINGS_LIMIT_MS = 5 * 60_000;

/** All direct messages together get the share of one guild. */
const fairGuild = (guildId: string | null) => guildId ?? 'direct messages';

export type RelayQueue = Awaited<ReturnType<typeof openRelayQueue>>;

/**
 * Opens the queue of events for agents: durable, in order within a channel, channels concurrently. It continues where the last process ended: a batch whose
 * outcome is unknown is sent again, with the same events and key, before anything else of that agent in that channel.
 */
export async function openRelayQueue(options: RelayQueueOptions) {
  const { store, clock, log } = options;
  const state = createQueueState();
  for (const record of await store.load(state.snapshot)) state.apply(record);

  /** Resolves when all records so far have been written or have failed. */
  let lastWrite: Promise<unknown> = Promise.resolve();
  const write: QueueContext['write'] = (record) => {
    state.apply(record);
    const written = store.append(record);
    lastWrite = written.catch(() => undefined);
    return written;
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const context: QueueContext = { ...options, state, write, signal };
  const drops = createDropNotices(clock, async (drop) => {
    try {
      await options.onDropped(drop);
    } catch (error) {
      log.error('a notice of dropped events failed', { guildId: drop.guildId, error });
    }
  });
  const enqueue = createEnqueue(context, drops);
  const attempts = createAttempts(context);
  const dispatcher = createDispatcher({
    clock,
    log,
    bound: options.bound,
    serve: createServeChannel(context, attempts, (channelId) => dispatcher.wake(channelId)),
    guildOf(channelId) {
      const channel = state.channel(channelId);
      return channel === undefined ? undefined : fairGuild(channel.guildId);
    },
    channels: () => [...state.channels()].map(({ channelId }) => channelId),
    limitMs: (channelId) => attempts.running.get(channelId)?.limitMs ?? SETTINGS_LIMIT_MS,
    interrupt: attempts.abort,
    onStall: (stall) => void options.onStall?.(stall),
  });

  /** The events of a channel that are not part of a running attempt. */
  const idleOf = ({ channelId, waiting, inFlight }: ChannelQueue) => {
    const running = attempts.running.get(channelId)?.key;
    return [...inFlight.filter(({ key }) => key !== running).flatMap(({ entries }) => entries), ...waiting];
  };
  const channelsOf = (guildId: string | null) => [...state.channels()].filter((channel) => channel.guildId === guildId);
  const events = (): readonly RelayEvent[] =>
    [...state.channels()]
      .flatMap(({ inFlight, waiting }) => [...inFlight.flatMap(({ entries }) => entries), ...waiting])
      .map(({ event }) => event);

  for (const { channelId } of [...state.channels()]) dispatcher.wake(channelId);

  return {
    /** Resolves when the event is on the disk, or refused. */
    async enqueue(event: RelayEvent) {
      if (signal.aborted) throw new Error('the queue of the relay has been stopped');
      const result = await enqueue(event);
      dispatcher.wake(event.channelId);
      return result;
    },
    /** Waiting and running events in a guild (`null`: in direct messages), by channel. */
    async status(guildId: string | null) {
      const channels = channelsOf(guildId);
      const waiting = channels.flatMap((channel) => {
        const [oldest, ...others] = idleOf(channel);
        if (oldest === undefined) return [];
        return [{ channelId: channel.channelId, events: 1 + others.length, oldestAt: oldest.at }];
      });
      const sending = channels.flatMap(({ channelId }) => {
        const running = attempts.running.get(channelId);
        return running === undefined ? [] : [{ channelId, agent: running.agent, since: running.since }];
      });
      /** Events that were refused or dropped because of `maxQueueSize`, since the start. */
      const dropped = drops.total(guildId);
      // Events that are reported as waiting must survive a power failure.
      await lastWrite;
      return { waiting, sending, dropped };
    },
    /** Of all guilds and direct messages: events in the queue, and channels with a running attempt. */
    totals: () => ({ events: events().length, sending: attempts.running.size }),
    /**
     * Drops waiting events. Running attempts continue, and an event whose `enqueue` has not resolved may be accepted afterwards.
     * @returns the number of dropped events, once that is on the disk
     */
    async clear(guildId: string | null): Promise<number> {
      const channels = channelsOf(guildId);
      const of = channels.flatMap(idleOf).map(({ n }) => n);
      if (of.length === 0) {
        // The record of an earlier `clear` may not be on the disk yet; its events must not return after this call.
        await lastWrite;
        return 0;
      }
      await write({ is: 'dropped', of });
      for (const { channelId } of channels) dispatcher.wake(channelId);
      return of.length;
    },
    /** All events of a guild (`null`: of direct messages) that have not ended. */
    pending: (guildId: string | null) => events().filter((event) => event.guildId === guildId),
    /** The guilds (`null`: direct messages) with a running attempt. */
    busyGuilds: (): ReadonlySet<string | null> =>
      new Set([...attempts.running.keys()].flatMap((channelId) => state.channel(channelId)?.guildId ?? [null])),
    /**
     * Drops a channel's waiting events for an agent, and aborts its running attempt there with `reason`. Members who wait for a reply get `sentence`.
     * @returns the number of events
     */
    async cancel(channelId: string, agent: string, sentence: string, reason: Error): Promise<number> {
      const channel = state.channel(channelId);
      if (channel === undefined) return 0;
      const running = attempts.running.get(channelId);
      const batches = channel.inFlight.filter(({ entries }) => entries[0]?.event.agent === agent);
      const idle = batches.filter(({ key }) => key !== running?.key);
      const waiting = channel.waiting.filter(({ event }) => event.agent === agent);
      // The attempt reports and records its end itself.
      if (running?.agent === agent) attempts.abort(channelId, reason);
      await attempts.giveUp(idle, waiting, sentence, reason);
      dispatcher.wake(channelId);
      return waiting.length + batches.flatMap(({ entries }) => entries).length;
    },
    /** To be called after a change of settings: delayed channels are checked again. */
    wake: () => dispatcher.wakeAll(),
    /** All events of one person, for the person's export. */
    of: async (userId: string) => events().filter((event) => concerns(event, userId)),
    async forget(userId: string): Promise<void> {
      state.edit((event) => without(event, userId));
      await store.compact();
    },
    /** Aborts running attempts; the next process repeats them under the same keys. */
    async stop(): Promise<void> {
      if (signal.aborted) return;
      stopping.abort();
      attempts.abortAll(new Error('the relay stops'));
      drops.stop();
      await dispatcher.stop();
      await store.close();
    },
  };
}

export type EnqueueResult =
  /** `ahead`: number of events of the channel before this one. */
  | { readonly status: 'taken'; readonly ahead: number }
  | { readonly status: 'duplicate' }
  | { readonly status: 'refused'; readonly reason: 'full' };

/** A decision, and the promise that resolves when it is written. */
interface Decision {
  readonly result: EnqueueResult;
  readonly written: Promise<unknown>;
}

/** Adds events to the queue. Events of one channel are decided in the order of the calls, even if reading their settings takes different times. */
function createEnqueue(
  { state, write, clock, rulesFor }: QueueContext,
  drops: Pick<DropNotices, 'note'>,
): (event: RelayEvent) => Promise<EnqueueResult> {
  const channelMutex = createKeyedMutex();

  const decide = async (event: RelayEvent): Promise<Decision> => {
    const { guildId, channelId } = event;
    if (state.knows(event.id)) return withoutWrite({ status: 'duplicate' });
    const rules = await rulesFor(guildId, channelId);
    // No `await` from here on. Meanwhile the same event may have been accepted through another channel.
    if (state.knows(event.id)) return withoutWrite({ status: 'duplicate' });
    const group = [...state.channels()].filter((channel) => groupOf(channel) === groupOf(event));
    const excess = group.reduce((sum, { waiting }) => sum + waiting.length, 0) + 1 - rules.maxQueueSize;
    if (excess > 0) drops.note(guildId, channelId, rules.whenFull === 'drop-oldest' ? excess : 1);
    if (excess > 0 && rules.whenFull === 'refuse-newest') return withoutWrite({ status: 'refused', reason: 'full' });
    return take(event, excess > 0 ? oldestOf(group).slice(0, excess) : []);
  };

  const take = (event: RelayEvent, dropped: readonly number[]): Decision => {
    const writes = dropped.length > 0 ? [write({ is: 'dropped', of: [...dropped] })] : [];
    const channel = state.channel(event.channelId);
    const ahead =
      channel === undefined
        ? 0
        : channel.waiting.length + channel.inFlight.reduce((sum, { entries }) => sum + entries.length, 0);
    const n = state.next();
    writes.push(write({ is: 'taken', n, at: clock.now(), event }));
    const written = Promise.all(writes).catch((error: unknown) => {
      state.withdraw(n);
      throw error;
    });
    return { result: { status: 'taken', ahead }, written };
  };

  return async (event) => {
    const { result, written } = await channelMutex.run(event.channelId, () => decide(event));
    await written;
    return result;
  };
}

const withoutWrite = (result: EnqueueResult): Decision => ({ result, written: Promise.resolve() });

/** The key of the events that share `maxQueueSize`: those of a guild, or of one person's direct messages. */
const groupOf = ({ guildId, channelId }: { readonly guildId: string | null; readonly channelId: string }) =>
  guildId ?? channelId;

const oldestOf = (channels: readonly ChannelQueue[]) =>
  channels.flatMap(({ waiting }) => waiting.map(({ n }) => n)).sort((a, b) => a - b);

/** Events of a guild that were dropped because the queue was full. */
export interface Drop {
  readonly guildId: string | null;
  /** The channel of the latest dropped event. */
  readonly channelId: string;
  /** Number of dropped events since the last notice. */
  readonly count: number;
}

type DropNotices = ReturnType<typeof createDropNotices>;

/** Calls `notify` for the first drop at once, and for later drops at most once in `DROPS_EVERY_MS`. Each person's direct messages count separately. */
function createDropNotices(clock: Clock, notify: (drop: Drop) => unknown) {
  const totals = new Map<string | null, number>();
  /** Groups with a notice in the last `DROPS_EVERY_MS`, and the drops since then. */
  const recent = new Map<string, { since: Drop | undefined; readonly stopTimer: () => void }>();

  const send = (group: string, drop: Drop) => {
    const stopTimer = clock.after(DROPS_EVERY_MS, () => {
      const since = recent.get(group)?.since;
      recent.delete(group);
      if (since !== undefined) send(group, since);
    });
    recent.set(group, { since: undefined, stopTimer });
    notify(drop);
  };

  return {
    note(guildId: string | null, channelId: string, count: number) {
      totals.set(guildId, (totals.get(guildId) ?? 0) + count);
      const group = groupOf({ guildId, channelId });
      const last = recent.get(group);
      if (last === undefined) send(group, { guildId, channelId, count });
      else last.since = { guildId, channelId, count: count + (last.since?.count ?? 0) };
    },
    /** Dropped events since this process started. */
    total: (guildId: string | null) => totals.get(guildId) ?? 0,
    stop() {
      for (const { stopTimer } of recent.values()) stopTimer();
      recent.clear();
    },
  };
}
