import { type Clock, createKeyedMutex, type FairBounds, type Logger, type Random } from '@cinnabar/sdk';
import type { Deliver } from '../delivery/deliver.js';
import { concerns, type RelayEvent, without } from '../events/event.js';
import { type Breakers, createAttempts, createServeChannel, type Failure } from './attempts.js';
import { createDispatcher, type Stall } from './dispatcher.js';
import { type ChannelQueue, createQueueState, type QueueRecord, type QueueState, type QueueStore } from './state.js';

/** Settings that may delay a channel's or a guild's events. Read for each decision, so that a changed setting takes effect at once. */
export interface QueueRules {
  /** Least time between two batches of a channel. */
  readonly rateLimitMs: number;
  /** Limit for a guild, or for one person's direct messages. */
  readonly maxQueueSize: number;
  readonly whenFull: 'refuse-newest' | 'drop-oldest';
  readonly paused: boolean;
  /** How long one attempt may take before the watchdog aborts it. */
  readonly attemptLimitMs?: number;
}

export interface RelayQueueOptions {
  readonly store: QueueStore;
  readonly rulesFor: (guildId: string | null, channelId: string) => Promise<QueueRules>;
  /** The global name of the event's agent, by the settings of this moment. Guilds that share an agent share its breaker. */
  readonly agentFor: (event: RelayEvent) => Promise<string>;
  readonly deliver: Deliver;
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How many channels are served at the same time; asked each time. */
  readonly bound: () => FairBounds;
  /** How many events a batch has at most. */
  readonly mostTogether?: number;
  /** The watchdog found a channel that stood still, and has put it right. */
  readonly onStall?: (stall: Stall) => unknown;
  readonly onDropped: (drop: Drop) => unknown;
  /** Called before the failure is written: after a crash in between, it is called again. */
  readonly onFailed: (failure: Failure) => unknown;
}

/** The context of the queue's functions. */
export interface QueueContext extends RelayQueueOptions {
  readonly state: QueueState;
  /** Applies a record to the state at once. Resolves when it is on the disk; nothing may depend on it before. */
  readonly write: (record: QueueRecord) => Promise<void>;
  /** Aborts when the queue stops. */
  readonly signal: AbortSignal;
}

const DROPS_EVERY_MS = 15 * 60_000;
/** Before an attempt only settings are read. */
const SETTINGS_LIMIT_MS = 5 * 60_000;

/** Direct messages share the turns of one guild. */
const fairGuild = (guildId: string | null) => guildId ?? 'direct messages';

export type RelayQueue = Awaited<ReturnType<typeof openRelayQueue>>;

/**
 * Events on their way to agents: durable, in order within a channel, channels in parallel. Opens with what its store holds, and goes on where the
 * last process ended: a batch that was sent with unknown outcome is sent again, the same events under the same key, before anything else of that
 * agent in that channel.
 */
export async function openRelayQueue(options: RelayQueueOptions) {
  const { store, clock, log } = options;
  const state = createQueueState();
  for (const record of await store.load(state.snapshot)) state.apply(record);

  /** Resolves when every record so far has been written, or has failed to be. */
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

  /** Everything of a channel that is not part of a running attempt. */
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
      /** Number of events that were refused or dropped because too many waited, since the bot was started. */
      const dropped = drops.total(guildId);
      // Events that are reported as waiting must survive a power cut.
      await lastWrite;
      return { waiting, sending, dropped };
    },
    /** Over all guilds and direct messages: events in the queue, and channels with a running attempt. */
    totals: () => ({ events: events().length, sending: attempts.running.size }),
    /**
     * Drops waiting events; running attempts continue, and an event whose `enqueue` has not resolved may be accepted afterwards.
     * @returns how many, once that is on the disk
     */
    async clear(guildId: string | null): Promise<number> {
      const channels = channelsOf(guildId);
      const of = channels.flatMap(idleOf).map(({ n }) => n);
      if (of.length === 0) {
        // Events that an earlier call drops may still be on the disk, and must not return after this answer.
        await lastWrite;
        return 0;
      }
      await write({ is: 'dropped', of });
      for (const { channelId } of channels) dispatcher.wake(channelId);
      return of.length;
    },
    /** Everything of a guild (`null`: of direct messages) that has not ended. */
    pending: (guildId: string | null) => events().filter((event) => event.guildId === guildId),
    /** The guilds (`null`: direct messages) with a running attempt. */
    busyGuilds: (): ReadonlySet<string | null> =>
      new Set([...attempts.running.keys()].flatMap((channelId) => state.channel(channelId)?.guildId ?? [null])),
    /**
     * Drops a channel's waiting events for an agent, and aborts a running attempt there with `reason`. Members who wait for a reply get `sentence`.
     * @returns how many events
     */
    async cancel(channelId: string, agent: string, sentence: string, reason: Error): Promise<number> {
      const channel = state.channel(channelId);
      if (channel === undefined) return 0;
      const running = attempts.running.get(channelId);
      const batches = channel.inFlight.filter(({ entries }) => entries[0]?.event.agent === agent);
      const idle = batches.filter(({ key }) => key !== running?.key);
      const waiting = channel.waiting.filter(({ event }) => event.agent === agent);
      // Its end is reported and written as that of every attempt.
      if (running?.agent === agent) attempts.abort(channelId, reason);
      await attempts.giveUp(idle, waiting, sentence, reason);
      dispatcher.wake(channelId);
      return waiting.length + batches.flatMap(({ entries }) => entries).length;
    },
    /** A setting has changed: delayed channels are checked again. */
    wake: () => dispatcher.wakeAll(),
    /** Everything of one person, for their export. */
    of: async (userId: string) => events().filter((event) => concerns(event, userId)),
    async forget(userId: string): Promise<void> {
      state.edit((event) => without(event, userId));
      await store.compact();
    },
    /** Aborts running attempts; the next process repeats them under the same key. */
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
  /** `ahead`: how many events of the channel come before it. */
  | { readonly status: 'taken'; readonly ahead: number }
  | { readonly status: 'duplicate' }
  | { readonly status: 'refused'; readonly reason: 'full' };

/** A decision, and the promise of its write. */
interface Decision {
  readonly result: EnqueueResult;
  readonly written: Promise<unknown>;
}

/** Adds events to the queue. Those of one channel are decided in the order of the calls, however long the settings take to be read. */
function createEnqueue(
  { state, write, clock, rulesFor }: QueueContext,
  drops: Pick<DropNotices, 'note'>,
): (event: RelayEvent) => Promise<EnqueueResult> {
  const channelMutex = createKeyedMutex();

  const decide = async (event: RelayEvent): Promise<Decision> => {
    const { guildId, channelId } = event;
    if (state.knows(event.id)) return withoutWrite({ status: 'duplicate' });
    const rules = await rulesFor(guildId, channelId);
    // From here on nothing is awaited. The same event may have come in through another channel meanwhile.
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

/** Which events share `maxQueueSize`: those of a guild, or of one person's direct messages. */
const groupOf = ({ guildId, channelId }: { readonly guildId: string | null; readonly channelId: string }) =>
  guildId ?? channelId;

const oldestOf = (channels: readonly ChannelQueue[]) =>
  channels.flatMap(({ waiting }) => waiting.map(({ n }) => n)).sort((a, b) => a - b);

/** Events of a guild that were dropped because too many waited. */
export interface Drop {
  readonly guildId: string | null;
  /** The channel of the latest of them. */
  readonly channelId: string;
  /** How many since the last notice. */
  readonly count: number;
}

type DropNotices = ReturnType<typeof createDropNotices>;

/** Calls `notify` for the first drop at once, and for those that follow together, once in `DROPS_EVERY_MS`. Each person's direct messages count separately. */
function createDropNotices(clock: Clock, notify: (drop: Drop) => unknown) {
  const totals = new Map<string | null, number>();
  /** Groups with a notice in the last `DROPS_EVERY_MS`, and what was dropped since. */
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
    /** Since this process started. */
    total: (guildId: string | null) => totals.get(guildId) ?? 0,
    stop() {
      for (const { stopTimer } of recent.values()) stopTimer();
      recent.clear();
    },
  };
}
