import type { Attempts } from './attempts.js';
import type { Book, Line } from './book.js';
import { choose } from './choice.js';
import type { Next } from './dispatcher.js';
import { createHolds } from './holds.js';
import type { RelayQueueOptions } from './options.js';

interface Tools extends Pick<RelayQueueOptions, 'rulesFor' | 'agentFor' | 'breakers' | 'clock'> {
  readonly book: Book;
  readonly attempts: Attempts;
  readonly mostTogether: number;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /** There may be something to do for a channel that waits for an agent. */
  readonly wake: (channelId: string) => void;
}

const NOBODY_WAKES_IT = { is: 'wait', until: Number.POSITIVE_INFINITY } as const;
/** An attempt that takes longer than that, the time of people's decisions included, does not end by itself. */
const ATTEMPT_LIMIT_MS = 60 * 60_000;
const NO_ANSWER = 'The agent has not answered for a while, so I have stopped trying. Please try again later.';

/** Decides what a channel's agents are told next, and has it done: one attempt a call. */
export function createTelling(tools: Tools): (channelId: string) => Promise<Next> {
  const { book, attempts, rulesFor, agentFor, breakers, clock, signal } = tools;
  const holds = createHolds(tools.patienceMs);
  /** When a channel's last batch ended, and for whom: until its rate limit has passed. */
  const rests = new Map<string, { readonly guildId: string | null; readonly at: number }>();

  /** What the names of agents mean in this channel, as the settings are now. */
  const readAgents = async (line: Line | undefined): Promise<ReadonlyMap<string, string>> => {
    const events = new Map(entriesOf(line).map(({ event }) => [event.agent, event]));
    return new Map(await Promise.all([...events].map(async ([name, event]) => [name, await agentFor(event)] as const)));
  };

  const tell = async (line: Line, agents: ReadonlyMap<string, string>, limitMs: number): Promise<Next> => {
    const { channelId, guildId } = line;
    const now = clock.now();
    const breakerOf = (name: string) => breakers.for(agents.get(name) ?? name);
    const silent = [...agents.keys()].filter((name) => breakerOf(name).admitsAt > 0);
    holds.note(channelId, silent, now);
    const expired = holds.expired(line, now);
    if (expired !== undefined) {
      await attempts.giveUp(expired.parcels, expired.entries, NO_ANSWER, new Error('the breaker stayed open'));
      return { is: 'again' };
    }
    const choice = choose(line, {
      now,
      most: tools.mostTogether,
      readyAt: (name, parcel) => Math.max(breakerOf(name).admitsAt, parcel?.readyAt ?? 0),
    });
    if (choice.is === 'none') return { is: 'wait', until: choice.until };
    const breaker = breakerOf(choice.agent);
    const { admitsAt } = breaker;
    const ended = await attempts.attempt(channelId, choice, breaker, limitMs);
    if (ended) rests.set(channelId, { guildId, at: clock.now() });
    // Those who waited for the outcome of this one go now, or know until when they wait.
    if (breaker.admitsAt !== admitsAt) holds.channels().forEach(tools.wake);
    return { is: 'attempted' };
  };

  return async (channelId) => {
    const guildId = (book.line(channelId) ?? rests.get(channelId))?.guildId ?? null;
    const [rules, agents] = await Promise.all([rulesFor(guildId, channelId), readAgents(book.line(channelId))]);
    // From here to the start of an attempt nothing is waited for: what was read is still so.
    if (signal.aborted || rules.paused) {
      holds.note(channelId, [], clock.now());
      return NOBODY_WAKES_IT;
    }
    const restsUntil = (rests.get(channelId)?.at ?? Number.NEGATIVE_INFINITY) + rules.rateLimitMs;
    if (restsUntil > clock.now()) return { is: 'wait', until: restsUntil };
    rests.delete(channelId);
    const line = book.line(channelId);
    if (line === undefined) {
      holds.note(channelId, [], clock.now());
      return { is: 'idle' };
    }
    const isNew = entriesOf(line).some(({ event }) => !agents.has(event.agent));
    return isNew ? { is: 'again' } : tell(line, agents, rules.attemptLimitMs ?? ATTEMPT_LIMIT_MS);
  };
}

const entriesOf = (line: Line | undefined) =>
  line === undefined ? [] : [...line.parcels.flatMap(({ entries }) => entries), ...line.waiting];
