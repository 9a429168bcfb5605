import type { Attempts } from './attempts.js';
import type { ServeResult } from './dispatcher.js';
import type { QueueContext } from './queue.js';
import type { ChannelQueue, InFlightBatch, QueuedEvent } from './state.js';

const MOST_TOGETHER = 10;
const BREAKER_WAIT_MS = 10 * 60_000;
/** The limit of an attempt without one in its rules; the time that people take for decisions is part of it. */
const ATTEMPT_LIMIT_MS = 60 * 60_000;
const UNTIL_WOKEN = { is: 'wait', until: Number.POSITIVE_INFINITY } as const;
const NO_ANSWER = 'The agent has not answered for a while, so I have stopped trying. Please try again later.';

/**
 * Serves a channel: chooses its next batch, and makes one attempt a call.
 * @param wake has another channel served, when the breaker of an agent that it waits for has changed
 */
export function createServeChannel(
  context: QueueContext,
  attempts: Attempts,
  wake: (channelId: string) => void,
): (channelId: string) => Promise<ServeResult> {
  const { state, rulesFor, agentFor, breakers, clock, signal } = context;
  const { mostTogether: most = MOST_TOGETHER, breakerWaitMs = BREAKER_WAIT_MS } = context;
  const breakerWaits = createBreakerWaits(breakerWaitMs);
  /** When a channel's last batch ended: until its rate limit has passed. */
  const lastBatches = new Map<string, { readonly guildId: string | null; readonly at: number }>();

  /** The global names of the channel's agents, as the settings are now. */
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
      await attempts.giveUp(expired.batches, expired.waiting, NO_ANSWER, new Error('the breaker stayed open'));
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
    // From here to the start of an attempt nothing is awaited: what was read is still true.
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

/** What a channel's next attempt delivers. */
export type NextBatch =
  /** The same once more. */
  | { readonly is: 'retry'; readonly agent: string; readonly batch: InFlightBatch }
  | { readonly is: 'new'; readonly agent: string; readonly entries: readonly QueuedEvent[] };

interface NextBatchRules {
  readonly now: number;
  /** From when the agent may get something, this batch if one is named. */
  readonly readyAt: (agent: string, batch: InFlightBatch | undefined) => number;
  /** How many events a batch has at most. */
  readonly most: number;
}

interface Candidate {
  readonly agent: string;
  readonly n: number;
  readonly entry?: QueuedEvent;
  readonly batch?: InFlightBatch;
}

/**
 * The oldest event comes first, and with it what follows for the same agent, up to the first event for another one. Only an agent that is not ready
 * is passed over, with all its events: so each agent gets a channel's events in order, and none waits for another that does not answer.
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

/** Which channels wait for agents whose breaker is open, and since when. */
function createBreakerWaits(limitMs: number) {
  const waits = new Map<string, ReadonlyMap<string, number>>();
  return {
    /** Notes which of a channel's agents do not answer at the moment. */
    note(channelId: string, agents: readonly string[], now: number): void {
      const before = waits.get(channelId);
      if (agents.length === 0) waits.delete(channelId);
      else waits.set(channelId, new Map(agents.map((agent) => [agent, before?.get(agent) ?? now])));
    },
    /** What has waited for one of the agents for longer than `limitMs`; `undefined` when there is nothing. */
    expired({ channelId, inFlight, waiting }: ChannelQueue, now: number) {
      for (const [agent, since] of waits.get(channelId) ?? []) {
        const isOver = ({ at, event }: QueuedEvent) => event.agent === agent && Math.max(at, since) + limitMs <= now;
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
