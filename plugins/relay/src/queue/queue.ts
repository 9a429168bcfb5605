import type { Clock, FairBounds, Logger, Random } from '@cinnabar/sdk';
import { without, wroteIn } from '../personal-data.js';
import type { Batch, Delivering, QueueRules, QueueStatus, RelayEvent, RelayQueue } from '../types.js';
import { createAttempts } from './attempts.js';
import type { Breakers } from './breakers.js';
import { createDispatcher, type Stall } from './dispatcher.js';
import { createDrops, createOffers, type Drop } from './enqueue.js';
import type { QueueStore } from './journal.js';
import { createTelling } from './next-batch.js';
import { createBook, type Line, type QueueRecord } from './state.js';

/** Events that an agent was not told of, or not to the end, and will not be any more. */
export interface Failure {
  readonly events: Batch;
  /** What to tell the members. */
  readonly sentence: string;
  /** For the log. */
  readonly error: unknown;
  /** Whether the agent has posted something all the same: then members need not be told. */
  readonly posted: boolean;
}

export interface RelayQueueOptions {
  readonly store: QueueStore;
  readonly rulesFor: (guildId: string | null, channelId: string) => Promise<QueueRules>;
  /**
   * What names the event's agent in the whole world: its server and its id there, as the settings are at this moment. Guilds that share
   * an agent share its breaker.
   */
  readonly agentFor: (event: RelayEvent) => Promise<string>;
  readonly delivering: Delivering;
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How many channels are served side by side; asked each time. */
  readonly bound: () => FairBounds;
  /** How many events an agent is told of together. */
  readonly mostTogether?: number;
  /** How long events wait for an agent whose breaker is open, before they fail. */
  readonly patienceMs?: number;
  /** The queue stood still for a channel, and was put right. */
  readonly onStall?: (stall: Stall) => unknown;
  /** How often at most a guild's drops are told of. */
  readonly dropsEveryMs?: number;
  readonly onDropped: (drop: Drop) => unknown;
  /** Called before the failure is written down: of one that a crash interrupts, it is called again. */
  readonly onFailed: (failure: Failure) => unknown;
}

/** Changes what the queue holds. It counts at once; nothing may follow from it before it is on the disk, when this resolves. */
export type Write = (record: QueueRecord) => Promise<void>;

const MOST_TOGETHER = 10;
const PATIENCE_MS = 10 * 60_000;
const DROPS_EVERY_MS = 15 * 60_000;
/** Before an attempt only settings are read. */
const SETTINGS_LIMIT_MS = 5 * 60_000;

/** Direct messages share the turns of one guild. */
const turnOf = (guildId: string | null) => guildId ?? 'direct messages';

/**
 * Opens the queue with what its store holds, and goes on where the last process ended: what it had sent without knowing the outcome is
 * sent again, the same events under the same key, before anything else of that agent in that channel.
 */
export async function createRelayQueue(options: RelayQueueOptions): Promise<RelayQueue> {
  const { store, clock, log } = options;
  const book = createBook();
  for (const record of await store.load(book.snapshot)) book.apply(record);

  /** Resolves when everything handed over so far has been written, or has failed to be. */
  let lastWrite: Promise<unknown> = Promise.resolve();
  const write: Write = (record) => {
    book.apply(record);
    const written = store.append(record);
    lastWrite = written.catch(() => undefined);
    return written;
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const tellOfDrop = async (drop: Drop) => {
    try {
      await options.onDropped(drop);
    } catch (error) {
      log.error('nobody could be told of what the relay dropped', { guildId: drop.guildId, error });
    }
  };
  const drops = createDrops(clock, options.dropsEveryMs ?? DROPS_EVERY_MS, tellOfDrop);
  const attempts = createAttempts({ ...options, book, write, signal });
  const wake = (channelId: string) => dispatcher.wake(channelId);
  const serve = createTelling({
    ...options,
    mostTogether: options.mostTogether ?? MOST_TOGETHER,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    book,
    attempts,
    signal,
    wake,
  });
  const dispatcher = createDispatcher({
    clock,
    log,
    bound: options.bound,
    serve,
    guildOf(channelId) {
      const line = book.line(channelId);
      return line === undefined ? undefined : turnOf(line.guildId);
    },
    channels: () => [...book.lines()].map(({ channelId }) => channelId),
    limitMs: (channelId) => attempts.flights.get(channelId)?.limitMs ?? SETTINGS_LIMIT_MS,
    interrupt: attempts.interruptOne,
    onStall: (stall) => void options.onStall?.(stall),
  });
  const offer = createOffers({
    ...options,
    book,
    write,
    onDropped: ({ guildId, channelId }, count) => drops.note(guildId, channelId, count),
  });

  /** Everything of a channel that is not being told at the moment. */
  const idleOf = ({ channelId, waiting, parcels }: Line) => {
    const flying = attempts.flights.get(channelId)?.key;
    return [...parcels.filter(({ key }) => key !== flying).flatMap(({ entries }) => entries), ...waiting];
  };
  const linesOf = (guildId: string | null) => [...book.lines()].filter((line) => line.guildId === guildId);
  const events = (): readonly RelayEvent[] =>
    [...book.lines()]
      .flatMap(({ parcels, waiting }) => [...parcels.flatMap(({ entries }) => entries), ...waiting])
      .map(({ event }) => event);

  for (const { channelId } of [...book.lines()]) wake(channelId);

  return {
    async offer(event) {
      if (signal.aborted) throw new Error('the queue of the relay has been stopped');
      const answer = await offer(event);
      wake(event.channelId);
      return answer;
    },
    async status(guildId): Promise<QueueStatus> {
      const lines = linesOf(guildId);
      const waiting = lines.flatMap((line) => {
        const [oldest, ...others] = idleOf(line);
        if (oldest === undefined) return [];
        return [{ channelId: line.channelId, events: 1 + others.length, oldestAt: oldest.at }];
      });
      const sending = lines.flatMap(({ channelId }) => {
        const flight = attempts.flights.get(channelId);
        return flight === undefined ? [] : [{ channelId, agent: flight.agent, since: flight.since }];
      });
      const dropped = drops.total(guildId);
      // What is told as waiting has to be there after a power cut.
      await lastWrite;
      return { waiting, sending, dropped };
    },
    totals: () => ({ events: events().length, sending: attempts.flights.size }),
    async clear(guildId) {
      const lines = linesOf(guildId);
      const of = lines.flatMap(idleOf).map(({ n }) => n);
      if (of.length === 0) {
        // What an earlier call drops may still be on its way to the disk, and must not come back after this answer.
        await lastWrite;
        return 0;
      }
      await write({ is: 'dropped', of });
      for (const { channelId } of lines) dispatcher.wake(channelId);
      return of.length;
    },
    pending: (guildId) => events().filter((event) => event.guildId === guildId),
    busyGuilds: () =>
      new Set([...attempts.flights.keys()].flatMap((channelId) => book.line(channelId)?.guildId ?? [null])),
    async cut(channelId, agent, sentence, reason) {
      const line = book.line(channelId);
      if (line === undefined) return 0;
      const flying = attempts.flights.get(channelId);
      const isTheirs = ({ entries }: { readonly entries: Line['waiting'] }) => entries[0]?.event.agent === agent;
      const parcels = line.parcels.filter(isTheirs);
      const idle = parcels.filter(({ key }) => key !== flying?.key);
      const waiting = line.waiting.filter(({ event }) => event.agent === agent);
      // Its end is told and written down as that of every attempt.
      if (flying?.agent === agent) attempts.interruptOne(channelId, reason);
      await attempts.giveUp(idle, waiting, sentence, reason);
      dispatcher.wake(channelId);
      return waiting.length + parcels.flatMap(({ entries }) => entries).length;
    },
    wake: () => dispatcher.wakeAll(),
    of: async (userId) => events().filter((event) => wroteIn(event, userId)),
    async forget(userId) {
      book.edit((event) => without(event, userId));
      await store.compact();
    },
    async stop() {
      if (signal.aborted) return;
      stopping.abort();
      attempts.interrupt(new Error('the relay stops'));
      drops.stop();
      await dispatcher.stop();
      await store.close();
    },
  };
}
