import {
  type CircuitBreaker,
  type Clock,
  createCircuitBreaker,
  type Logger,
  type Random,
  t,
  withAbortGrace,
} from '@cinnabar/sdk';
import type { Batch, Delivery, RelayEvent } from '../events/event.js';
import type { ServeResult } from './dispatcher.js';
import type { QueueContext } from './queue.js';
import type { ChannelQueue, InFlightBatch, QueuedEvent } from './state.js';

const MOST_TOGETHER = 10;
const BREAKER_WAIT_MS = 10 * 60_000;
/** The default limit of an attempt. The time that people take for decisions is part of it. */
const ATTEMPT_LIMIT_MS = 60 * 60_000;
const UNTIL_WOKEN = { is: 'wait', until: Number.POSITIVE_INFINITY } as const;
const noAnswer = () => t('The agent has not answered for a while, so I have stopped trying. Please try again later.');

/**
 * Serves a channel: chooses its next batch, and makes one attempt per call.
 * @param wake is called for each channel that waits for a circuit breaker when one has changed
 */
export function createServeChannel(
  context: QueueContext,
  attempts: Attempts,
  wake: (channelId: string) => void,
): (channelId: string) => Promise<ServeResult> {
  const { state, rulesFor, agentFor, breakers, clock, signal } = context;
  const { mostTogether: most = MOST_TOGETHER } = context;
  const breakerWaits = createBreakerWaits();
  /** The end of each channel's latest batch, until its rate limit has passed. */
  const lastBatches = new Map<string, { readonly guildId: string | null; readonly at: number }>();

  /** The global names of the channel's agents, by their name in events, according to the current settings. */
  const readAgents = async (channel: ChannelQueue | undefined): Promise<ReadonlyMap<string, string>> => {
    const events = new Map(entriesOf(channel).map(({ event }) => [event.agent, event]));
    return new Map(await Promise.all([...events].map(async ([name, event]) => [name, await agentFor(event)] as const)));
  };

  const attemptNext = async (channel: ChannelQueue, agents: ReadonlyMap<string, string>, limitMs: number) => {
    const { channelId, guildId } = channel;
    const now = clock.now();
    const breakerOf = (name: string) => breakers.for(agents.get(name) ?? name);
    breakerWaits.note(
      channelId,
      [...agents.keys()].filter((name) => breakerOf(name).admitsAt > 0),
      now,
    );
    const expired = breakerWaits.expired(channel, now);
    if (expired !== undefined) {
      await attempts.giveUp(expired.batches, expired.waiting, noAnswer(), new Error('the breaker stayed open'));
      return { is: 'again' } as const;
    }
    const next = nextBatch(channel, {
      now,
      most,
      readyAt: (name, batch) => Math.max(breakerOf(name).admitsAt, batch?.readyAt ?? 0),
    });
    if (next.is === 'none') return { is: 'wait', until: next.until } as const;
    const breaker = breakerOf(next.agent);
    const { admitsAt } = breaker;
    const hasEnded = await attempts.attempt(channelId, next, breaker, limitMs);
    if (hasEnded) lastBatches.set(channelId, { guildId, at: clock.now() });
    if (breaker.admitsAt !== admitsAt) breakerWaits.channels().forEach(wake);
    return { is: 'attempted' } as const;
  };

  return async (channelId) => {
    const guildId = (state.channel(channelId) ?? lastBatches.get(channelId))?.guildId ?? null;
    const [rules, agents] = await Promise.all([rulesFor(guildId, channelId), readAgents(state.channel(channelId))]);
    // No `await` from here to the start of an attempt, so that these values stay true.
    if (signal.aborted || rules.paused) {
      breakerWaits.note(channelId, [], clock.now());
      return UNTIL_WOKEN;
    }
    const limitedUntil = (lastBatches.get(channelId)?.at ?? Number.NEGATIVE_INFINITY) + rules.rateLimitMs;
    if (limitedUntil > clock.now()) return { is: 'wait', until: limitedUntil };
    lastBatches.delete(channelId);
    const channel = state.channel(channelId);
    if (channel === undefined) {
      breakerWaits.note(channelId, [], clock.now());
      return { is: 'idle' };
    }
    const hasNewAgent = entriesOf(channel).some(({ event }) => !agents.has(event.agent));
    return hasNewAgent ? { is: 'again' } : attemptNext(channel, agents, rules.attemptLimitMs ?? ATTEMPT_LIMIT_MS);
  };
}

const entriesOf = (channel: ChannelQueue | undefined) =>
  channel === undefined ? [] : [...channel.inFlight.flatMap(({ entries }) => entries), ...channel.waiting];

/** The batch of a channel's next attempt. */
type NextBatch =
  /** Another attempt with the same batch. */
  | { readonly is: 'retry'; readonly agent: string; readonly batch: InFlightBatch }
  | { readonly is: 'new'; readonly agent: string; readonly entries: readonly QueuedEvent[] };

interface NextBatchRules {
  readonly now: number;
  /** When the agent, and the batch if there is one, is ready, in milliseconds since the Unix epoch. */
  readonly readyAt: (agent: string, batch: InFlightBatch | undefined) => number;
  /** Maximum number of events in a batch. */
  readonly most: number;
}

interface Candidate {
  readonly agent: string;
  readonly n: number;
  readonly entry?: QueuedEvent;
  readonly batch?: InFlightBatch;
}

/**
 * The next batch begins with the oldest event, and continues with those for the same agent, up to the first event for another one. An agent that is not ready
 * is skipped with all its events, so that each agent gets a channel's events in order, and no agent waits for another.
 * @returns `none` when nothing may be delivered before `until`, in milliseconds since the Unix epoch
 */
function nextBatch(
  channel: ChannelQueue,
  { now, readyAt, most }: NextBatchRules,
): NextBatch | { readonly is: 'none'; readonly until: number } {
  const notReady = new Set<string>();
  const together: QueuedEvent[] = [];
  let agent: string | undefined;
  let until = Number.POSITIVE_INFINITY;

  for (const candidate of candidatesOf(channel)) {
    if (notReady.has(candidate.agent)) continue;
    if (candidate.agent !== agent) {
      const at = readyAt(candidate.agent, candidate.batch);
      if (at > now) {
        notReady.add(candidate.agent);
        until = Math.min(until, at);
        continue;
      }
      if (agent !== undefined) break;
      agent = candidate.agent;
    }
    if (candidate.batch !== undefined) return { is: 'retry', agent, batch: candidate.batch };
    if (candidate.entry !== undefined) together.push(candidate.entry);
    if (together.length >= most) break;
  }
  return agent === undefined ? { is: 'none', until } : { is: 'new', agent, entries: together };
}

function candidatesOf({ waiting, inFlight }: ChannelQueue): readonly Candidate[] {
  const batches = inFlight.flatMap((batch) =>
    batch.entries.slice(0, 1).map(({ n, event }): Candidate => ({ agent: event.agent, n, batch })),
  );
  return [...batches, ...waiting.map((entry): Candidate => ({ agent: entry.event.agent, n: entry.n, entry }))].sort(
    (a, b) => a.n - b.n,
  );
}

/** Records which channels wait for agents whose circuit breaker is open, and since when. */
function createBreakerWaits() {
  const waits = new Map<string, ReadonlyMap<string, number>>();
  return {
    /** Sets the channel's agents whose circuit breaker is open. */
    note(channelId: string, agents: readonly string[], now: number): void {
      const before = waits.get(channelId);
      if (agents.length === 0) waits.delete(channelId);
      else waits.set(channelId, new Map(agents.map((agent) => [agent, before?.get(agent) ?? now])));
    },
    /** The events that have waited for such an agent longer than `BREAKER_WAIT_MS`; `undefined` without any. */
    expired({ channelId, inFlight, waiting }: ChannelQueue, now: number) {
      for (const [agent, since] of waits.get(channelId) ?? []) {
        const isOver = ({ at, event }: QueuedEvent) =>
          event.agent === agent && Math.max(at, since) + BREAKER_WAIT_MS <= now;
        const over = {
          batches: inFlight.filter(({ entries }) => entries.some(isOver)),
          waiting: waiting.filter(isOver),
        };
        if (over.batches.length > 0 || over.waiting.length > 0) return over;
      }
      return undefined;
    },
    channels: () => [...waits.keys()],
  };
}

/** Events whose delivery failed, completely or in part, and is not tried again. */
export interface Failure {
  readonly events: Batch;
  /** The reason for members. */
  readonly sentence: string;
  /** The cause for the log. */
  readonly error: unknown;
  /** Whether the agent has posted nevertheless: then members get no notice. */
  readonly posted: boolean;
}

interface RunningAttempt {
  readonly key: string;
  readonly agent: string;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
  /** Time limit of the attempt. */
  readonly limitMs: number;
  readonly controller: AbortController;
}

const wentWrong = () => t('Something went wrong while I passed this on to the agent.');
const NOTHING_LEFT: Delivery = { status: 'done', posted: false, tokens: 0, steps: 0 };
/** How long a delivery may take to end after an abort. */
const GRACE_MS = 3_000;

type Attempts = ReturnType<typeof createAttempts>;

export function createAttempts({ state, write, deliver, clock, random, log, onFailed, signal: stopped }: QueueContext) {
  const running = new Map<string, RunningAttempt>();

  const batchOf = (channelId: string, key: string) =>
    state.channel(channelId)?.inFlight.find((batch) => batch.key === key);

  /** An unexpected error counts as a temporary failure. */
  const tryToDeliver = async (events: Batch, key: string, { signal }: AbortController): Promise<Delivery> => {
    try {
      const delivery = await withAbortGrace(clock, GRACE_MS, deliver(events, key, signal), signal);
      return delivery.inTime
        ? delivery.value
        : { status: 'failed', retry: true, sentence: wentWrong(), error: signal.reason };
    } catch (error) {
      return { status: 'failed', retry: true, sentence: wentWrong(), error };
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
    // After a failed probe, the circuit breaker determines the next attempt, and no retry is used up.
    const posted = batch.posted || delivery.posted === true;
    const failures = batch.failures + (isProbe && delivery.retry ? 0 : 1);
    const delayMs = isProbe ? 0 : retryDelayMs(failures, random, delivery.retryAfterMs);
    log.warn('an attempt of a delivery failed', { key, attempt, failures, error: delivery.error });
    if (delivery.retry && delayMs !== undefined) {
      state.postpone(key, { failures, posted, readyAt: clock.now() + delayMs });
      return false;
    }
    // Reported before it is written. If the process is killed in between, the next one reports it again, and Discord recognises the repeated message.
    await reportFailure(eventsOf(batch.entries), { ...delivery, posted });
    await write({ is: 'ended', key });
    return true;
  };

  return {
    /** The running attempts by channel. */
    get running(): ReadonlyMap<string, RunningAttempt> {
      return running;
    },
    /**
     * Delivers a batch once, and records the outcome. After a temporary failure, the batch stays in the state with the time of its next attempt. The outcome of
     * an attempt that the stop has aborted is unknown: its batch is not changed.
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
    /** Reports events that are not tried again, and records their end. */
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
/** Limit for a server's `retry-after`. */
const LONGEST_DELAY_MS = 5 * 60_000;

/**
 * The delay after `failures` failures: 1, 2 and 4 seconds, each reduced by up to half at random, so that attempts that failed together are not repeated
 * together. `undefined` after the last retry.
 * @param askedMs the delay that the server asks for
 */
function retryDelayMs(failures: number, random: Random, askedMs = 0): number | undefined {
  if (failures > RETRIES) return undefined;
  const ms = FIRST_DELAY_MS * 2 ** (failures - 1);
  return Math.max(ms - (ms / 2) * random.next(), Math.min(askedMs, LONGEST_DELAY_MS));
}

const PAUSE_MS = 30_000;

export type Breakers = ReturnType<typeof createBreakers>;

/**
 * Circuit breakers, one for each agent, so that one that does not answer does not stop the others. Five failures in a row open one for half a minute.
 * @param onOpen called when one opens, with the global name of its agent
 */
export function createBreakers(clock: Clock, log: Logger, onOpen: (agent: string) => void = () => undefined) {
  const breakers = new Map<string, CircuitBreaker>();
  return {
    /** @param agent the agent's global name: its server, and its id there */
    for(agent: string): CircuitBreaker {
      const known = breakers.get(agent);
      if (known !== undefined) return known;
      const breaker = createCircuitBreaker(clock, {
        pauseMs: PAUSE_MS,
        onOpen() {
          log.warn('agent does not answer, left alone for a while', { agent, ms: PAUSE_MS });
          onOpen(agent);
        },
        onClose: () => log.info('agent answers again', { agent }),
      });
      breakers.set(agent, breaker);
      return breaker;
    },
    /** The circuit breakers of agents with an attempt since the start. */
    list: (): readonly (readonly [agent: string, breaker: CircuitBreaker])[] => [...breakers],
  };
}

/** An answer of the agent, even a refusal, counts as success. */
function verdictOf(delivery: Delivery): 'success' | 'failure' {
  return delivery.status === 'failed' && delivery.retry ? 'failure' : 'success';
}
