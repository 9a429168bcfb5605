import { type CircuitBreaker, type Random, withAbortGrace } from '@cinnabar/sdk';
import type { Batch, Delivery, RelayEvent } from '../events/event.js';
import { verdictOf } from './breakers.js';
import type { NextBatch } from './next-batch.js';
import type { QueueContext } from './queue.js';
import type { InFlightBatch, QueuedEvent } from './state.js';

/** Events that were not delivered, or not to the end, and are not tried again. */
export interface Failure {
  readonly events: Batch;
  /** For the members. */
  readonly sentence: string;
  /** For the log. */
  readonly error: unknown;
  /** Whether the agent has posted something all the same: then members need no notice. */
  readonly posted: boolean;
}

interface RunningAttempt {
  readonly key: string;
  readonly agent: string;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
  /** How long it may take at most. */
  readonly limitMs: number;
  readonly controller: AbortController;
}

const WENT_WRONG = 'Something went wrong while I passed this on to the agent.';
const NOTHING_LEFT: Delivery = { status: 'done', posted: false, tokens: 0, steps: 0 };
/** How long a delivery may take to end after it was aborted. */
const GRACE_MS = 3_000;

export type Attempts = ReturnType<typeof createAttempts>;

export function createAttempts({ state, write, deliver, clock, random, log, onFailed, signal: stopped }: QueueContext) {
  const running = new Map<string, RunningAttempt>();

  const batchOf = (channelId: string, key: string) =>
    state.channel(channelId)?.inFlight.find((batch) => batch.key === key);

  /** An unexpected error is a failure that may pass. */
  const tryToDeliver = async (events: Batch, key: string, { signal }: AbortController): Promise<Delivery> => {
    try {
      const delivery = await withAbortGrace(clock, GRACE_MS, deliver(events, key, signal), signal);
      return delivery.inTime
        ? delivery.value
        : { status: 'failed', retry: true, sentence: WENT_WRONG, error: signal.reason };
    } catch (error) {
      return { status: 'failed', retry: true, sentence: WENT_WRONG, error };
    }
  };

  const reportFailure = async (events: readonly RelayEvent[], failure: Omit<Failure, 'events'>): Promise<void> => {
    const [first, ...others] = events;
    if (first === undefined) return;
    const { sentence, error, posted } = failure;
    try {
      await onFailed({ events: [first, ...others], sentence, error, posted });
    } catch (problem) {
      log.error('a notice of a failed delivery failed', { channelId: first.channelId, error: problem });
    }
  };

  /** @returns whether the batch has ended */
  const finish = async (batch: InFlightBatch, delivery: Delivery, isProbe: boolean): Promise<boolean> => {
    const { key, attempt } = batch;
    if (delivery.status === 'done') {
      await write({ is: 'ended', key });
      return true;
    }
    // After a failed probe the breaker decides when to try again: it has not used up a retry.
    const posted = batch.posted || delivery.posted === true;
    const failures = batch.failures + (isProbe && delivery.retry ? 0 : 1);
    const delayMs = isProbe ? 0 : retryDelayMs(failures, random, delivery.retryAfterMs);
    log.warn('an attempt of a delivery failed', { key, attempt, failures, error: delivery.error });
    if (delivery.retry && delayMs !== undefined) {
      state.postpone(key, { failures, posted, readyAt: clock.now() + delayMs });
      return false;
    }
    // Reported before it is written: a process that is killed in between reports it again, and Discord recognises the same message.
    await reportFailure(eventsOf(batch.entries), { ...delivery, posted });
    await write({ is: 'ended', key });
    return true;
  };

  return {
    /** By channel. */
    get running(): ReadonlyMap<string, RunningAttempt> {
      return running;
    },
    /**
     * Delivers a batch once, and writes how it ended. A failure that may be tried again stays in the state with its next time. The outcome of an
     * aborted attempt is unknown: its batch stays as it is.
     * @returns whether the batch has ended
     */
    async attempt(channelId: string, next: NextBatch, breaker: CircuitBreaker, limitMs: number): Promise<boolean> {
      const fresh = { attempt: 0, failures: 0, posted: false };
      const { key, entries, attempt, failures, posted } =
        next.is === 'retry' ? next.batch : { key: random.id(), entries: next.entries, ...fresh };
      const isProbe = breaker.state === 'open';
      const controller = new AbortController();
      running.set(channelId, { key, agent: next.agent, since: clock.now(), limitMs, controller });
      try {
        const delivery = await breaker.run(async () => {
          await write({ is: 'sent', key, of: entries.map(({ n }) => n), attempt: attempt + 1, failures, posted });
          const [first, ...others] = eventsOf(batchOf(channelId, key)?.entries ?? []);
          return first === undefined ? NOTHING_LEFT : tryToDeliver([first, ...others], key, controller);
        }, verdictOf);
        const batch = batchOf(channelId, key);
        if (batch === undefined) return true;
        if (delivery.status === 'failed' && stopped.aborted) return false;
        return await finish(batch, delivery, isProbe);
      } finally {
        running.delete(channelId);
      }
    },
    abort: (channelId: string, reason: Error) => running.get(channelId)?.controller.abort(reason),
    abortAll(reason: Error): void {
      for (const { controller } of running.values()) controller.abort(reason);
    },
    /** Reports that these are not tried again, and writes it. */
    async giveUp(
      batches: readonly InFlightBatch[],
      waiting: readonly QueuedEvent[],
      sentence: string,
      error: unknown,
    ): Promise<void> {
      const withPost = batches.filter(({ posted }) => posted).flatMap(({ entries }) => entries);
      const withoutPost = batches.filter(({ posted }) => !posted).flatMap(({ entries }) => entries);
      await reportFailure(eventsOf(withPost), { sentence, error, posted: true });
      await reportFailure(eventsOf([...withoutPost, ...waiting]), { sentence, error, posted: false });
      const written = batches.map(({ key }) => write({ is: 'ended', key }));
      if (waiting.length > 0) written.push(write({ is: 'dropped', of: waiting.map(({ n }) => n) }));
      await Promise.all(written);
    },
  };
}

const eventsOf = (entries: readonly QueuedEvent[]): readonly RelayEvent[] => entries.map(({ event }) => event);

const RETRIES = 3;
const FIRST_DELAY_MS = 1_000;
/** The longest that a server's `retry-after` is followed. */
const LONGEST_DELAY_MS = 5 * 60_000;

/**
 * When to try again after `failures` failures, `undefined` for never: after 1, 2 and 4 seconds, each less up to half by chance, so that what failed
 * together is not repeated together.
 * @param askedMs what the server asks for, if it does
 */
function retryDelayMs(failures: number, random: Random, askedMs = 0): number | undefined {
  if (failures > RETRIES) return undefined;
  const ms = FIRST_DELAY_MS * 2 ** (failures - 1);
  return Math.max(ms - (ms / 2) * random.next(), Math.min(askedMs, LONGEST_DELAY_MS));
}
