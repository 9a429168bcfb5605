import type { Attempts } from './attempts.js';
import type { Next } from './dispatcher.js';
import type { RelayQueueOptions } from './queue.js';
import type { Book, Entry, Line, Parcel } from './state.js';

interface ServeParts extends Pick<RelayQueueOptions, 'rulesFor' | 'agentFor' | 'breakers' | 'clock'> {
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
export function createTelling(tools: ServeParts): (channelId: string) => Promise<Next> {
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

/** What a channel's next attempt is about. */
export type Choice =
  /** The same once more. */
  | { readonly is: 'parcel'; readonly agent: string; readonly parcel: Parcel }
  | { readonly is: 'entries'; readonly agent: string; readonly entries: readonly Entry[] }
  /** Nobody may be told of anything before this, in milliseconds since the Unix epoch. */
  | { readonly is: 'none'; readonly until: number };

interface ChoiceRules {
  readonly now: number;
  /** From when the agent may be told, of this parcel if one is named. */
  readonly readyAt: (agent: string, parcel: Parcel | undefined) => number;
  /** How many events go together. */
  readonly most: number;
}

interface Unit {
  readonly agent: string;
  readonly n: number;
  readonly entry?: Entry;
  readonly parcel?: Parcel;
}

/**
 * The oldest comes first, and with it what follows for the same agent, as far as nothing for another one lies between. Only an agent that
 * cannot be told yet is passed over, with all that is for it: so each agent hears of a channel in order, and none waits for another that
 * is broken.
 */
function choose(line: Line, { now, readyAt, most }: ChoiceRules): Choice {
  const held = new Set<string>();
  const together: Entry[] = [];
  let agent: string | undefined;
  let until = Number.POSITIVE_INFINITY;

  for (const unit of unitsOf(line)) {
    if (held.has(unit.agent)) continue;
    if (unit.agent !== agent) {
      const at = readyAt(unit.agent, unit.parcel);
      if (at > now) {
        held.add(unit.agent);
        until = Math.min(until, at);
        continue;
      }
      if (agent !== undefined) break;
      agent = unit.agent;
    }
    if (unit.parcel !== undefined) return { is: 'parcel', agent, parcel: unit.parcel };
    if (unit.entry !== undefined) together.push(unit.entry);
    if (together.length >= most) break;
  }
  return agent === undefined ? { is: 'none', until } : { is: 'entries', agent, entries: together };
}

function unitsOf({ waiting, parcels }: Line): readonly Unit[] {
  const sent = parcels.flatMap((parcel) =>
    parcel.entries.slice(0, 1).map(({ n, event }): Unit => ({ agent: event.agent, n, parcel })),
  );
  return [...sent, ...waiting.map((entry): Unit => ({ agent: entry.event.agent, n: entry.n, entry }))].sort(
    (a, b) => a.n - b.n,
  );
}

/** What cannot be waited for any longer, of one agent in one channel. */
interface Expired {
  readonly parcels: readonly Parcel[];
  readonly entries: readonly Entry[];
}

/** Which channels wait for agents that do not answer, and since when. */
interface Holds {
  /** Notes which of the channel's agents do not answer at the moment. */
  note(channelId: string, agents: readonly string[], now: number): void;
  /** What has waited for one of them for longer than anybody has patience. `undefined` when there is nothing. */
  expired(line: Line, now: number): Expired | undefined;
  channels(): readonly string[];
}

function createHolds(patienceMs: number): Holds {
  const held = new Map<string, ReadonlyMap<string, number>>();
  return {
    note(channelId, agents, now) {
      const before = held.get(channelId);
      if (agents.length === 0) held.delete(channelId);
      else held.set(channelId, new Map(agents.map((agent) => [agent, before?.get(agent) ?? now])));
    },
    expired({ channelId, parcels, waiting }, now) {
      for (const [agent, since] of held.get(channelId) ?? []) {
        const isOver = ({ at, event }: Entry) => event.agent === agent && Math.max(at, since) + patienceMs <= now;
        const over = {
          parcels: parcels.filter(({ entries }) => entries.some(isOver)),
          entries: waiting.filter(isOver),
        };
        if (over.parcels.length > 0 || over.entries.length > 0) return over;
      }
      return undefined;
    },
    channels: () => [...held.keys()],
  };
}
