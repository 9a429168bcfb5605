import { type Random, withAbortGrace } from '@cinnabar/sdk';
import type { Batch, Delivery, RelayEvent } from '../types.js';
import type { Breaker } from './breakers.js';
import type { Choice } from './next-batch.js';
import type { Failure, RelayQueueOptions, Write } from './queue.js';
import type { Book, Entry, Parcel } from './state.js';

/** What an agent is being told. */
interface Flight {
  readonly key: string;
  readonly agent: string;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
  /** How long it may take at most. */
  readonly limitMs: number;
}

export interface Attempts {
  /** By channel. */
  readonly flights: ReadonlyMap<string, Flight>;
  /**
   * Tells an agent once, and writes down how it ended. What failed and may be tried again stays in the book with the time for that. Of
   * what was interrupted nobody knows how it ended: it stays as it is.
   * @returns whether it has ended, and need not be told again
   */
  attempt(
    channelId: string,
    what: Exclude<Choice, { readonly is: 'none' }>,
    breaker: Breaker,
    limitMs: number,
  ): Promise<boolean>;
  /** Aborts all that are under way, each by a signal of its own. */
  interrupt(reason: Error): void;
  /** Aborts a channel's. */
  interruptOne(channelId: string, reason: Error): void;
  /** Says that these are not tried again, and writes it down. */
  giveUp(parcels: readonly Parcel[], entries: readonly Entry[], sentence: string, error: unknown): Promise<void>;
}

interface Tools extends Pick<RelayQueueOptions, 'delivering' | 'clock' | 'random' | 'log' | 'onFailed'> {
  readonly book: Book;
  readonly write: Write;
  /** Aborted when the queue stops. */
  readonly signal: AbortSignal;
}

interface AbortableFlight extends Flight {
  readonly controller: AbortController;
}

const WENT_WRONG = 'Something went wrong while I passed this on to the agent.';
const NOTHING_LEFT: Delivery = { status: 'done', posted: false, tokens: 0, steps: 0 };

export function createAttempts(tools: Tools): Attempts {
  const { book, write, delivering, clock, random, log, onFailed, signal } = tools;
  const flights = new Map<string, AbortableFlight>();

  const parcelOf = (channelId: string, key: string) =>
    book.line(channelId)?.parcels.find((parcel) => parcel.key === key);

  /** Everything that the queue does not expect of a delivery is a failure that may pass. */
  const deliver = async (events: Batch, key: string, { signal }: AbortController): Promise<Delivery> => {
    try {
      const end = await withAbortGrace(clock, GRACE_MS, delivering.deliver(events, key, signal), signal);
      return end.inTime ? end.value : { status: 'failed', retry: true, sentence: WENT_WRONG, error: signal.reason };
    } catch (error) {
      return { status: 'failed', retry: true, sentence: WENT_WRONG, error };
    }
  };

  const fail = async (events: readonly RelayEvent[], { sentence, error, posted }: Omit<Failure, 'events'>) => {
    const [first, ...others] = events;
    if (first === undefined) return;
    try {
      await onFailed({ events: [first, ...others], sentence, error, posted });
    } catch (problem) {
      log.error('nobody could be told of a failure of the relay', { channelId: first.channelId, error: problem });
    }
  };

  const settle = async (parcel: Parcel, delivery: Delivery, probed: boolean): Promise<boolean> => {
    const { key, attempt } = parcel;
    if (delivery.status === 'done') {
      await write({ is: 'ended', key });
      return true;
    }
    // A probe that failed is the breaker's business: it waits with the others, and has not used up a retry.
    const posted = parcel.posted || delivery.posted === true;
    const failures = parcel.failures + (probed && delivery.retry ? 0 : 1);
    const delayMs = probed ? 0 : retryDelayMs(failures, random, delivery.retryAfterMs);
    log.warn('the agent could not be told', { key, attempt, failures, error: delivery.error });
    if (delivery.retry && delayMs !== undefined) {
      book.postpone(key, { failures, posted, readyAt: clock.now() + delayMs });
      return false;
    }
    // Said before it is written down: whoever is killed in between says it again, which Discord takes for the same message.
    await fail(eventsOf(parcel.entries), { ...delivery, posted });
    await write({ is: 'ended', key });
    return true;
  };

  return {
    flights,
    async attempt(channelId, what, breaker, limitMs) {
      const fresh = { attempt: 0, failures: 0, posted: false };
      const { key, entries, attempt, failures, posted } =
        what.is === 'parcel' ? what.parcel : { key: random.id(), entries: what.entries, ...fresh };
      const probed = breaker.probing;
      const controller = new AbortController();
      flights.set(channelId, { key, agent: what.agent, since: clock.now(), limitMs, controller });
      try {
        const delivery = await breaker.run(async () => {
          await write({ is: 'sent', key, of: entries.map(({ n }) => n), attempt: attempt + 1, failures, posted });
          const [first, ...others] = eventsOf(parcelOf(channelId, key)?.entries ?? []);
          return first === undefined ? NOTHING_LEFT : deliver([first, ...others], key, controller);
        });
        const parcel = parcelOf(channelId, key);
        if (parcel === undefined) return true;
        if (delivery.status === 'failed' && signal.aborted) return false;
        return await settle(parcel, delivery, probed);
      } finally {
        flights.delete(channelId);
      }
    },
    interrupt(reason) {
      for (const { controller } of flights.values()) controller.abort(reason);
    },
    interruptOne: (channelId, reason) => flights.get(channelId)?.controller.abort(reason),
    async giveUp(parcels, entries, sentence, error) {
      const told = parcels.filter(({ posted }) => posted).flatMap((parcel) => parcel.entries);
      const untold = parcels.filter(({ posted }) => !posted).flatMap((parcel) => parcel.entries);
      await fail(eventsOf(told), { sentence, error, posted: true });
      await fail(eventsOf([...untold, ...entries]), { sentence, error, posted: false });
      const written = parcels.map(({ key }) => write({ is: 'ended', key }));
      if (entries.length > 0) written.push(write({ is: 'dropped', of: entries.map(({ n }) => n) }));
      await Promise.all(written);
    },
  };
}

const eventsOf = (entries: readonly Entry[]): readonly RelayEvent[] => entries.map(({ event }) => event);

/** How long a delivery may take to end after it was told to stop. */
const GRACE_MS = 3_000;

const RETRIES = 3;
const FIRST_DELAY_MS = 1_000;
/** A server that asks for more patience than this is asked earlier. */
const LONGEST_DELAY_MS = 5 * 60_000;

/**
 * How long to wait before what has failed `failures` times is tried again, `undefined` when it is not: 1, 2 and 4 seconds, each less up to
 * half by chance, so that what failed together does not come back together.
 *
 * No policy of a library's: those sleep in place, on the wall clock, while whoever waits here must not keep others from the agent's side.
 * @param askedMs what the server asks for, if it does
 */
function retryDelayMs(failures: number, random: Random, askedMs = 0): number | undefined {
  if (failures > RETRIES) return undefined;
  const ms = FIRST_DELAY_MS * 2 ** (failures - 1);
  return Math.max(ms - (ms / 2) * random.next(), Math.min(askedMs, LONGEST_DELAY_MS));
}
