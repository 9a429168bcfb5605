import type { Clock } from '@cinnabar/sdk';
import type { Offer, RelayEvent } from '../types.js';
import type { RelayQueueOptions, Write } from './queue.js';
import type { Book, Line } from './state.js';

interface Desk {
  readonly book: Book;
  readonly write: Write;
  readonly clock: Clock;
  readonly rulesFor: RelayQueueOptions['rulesFor'];
  readonly onDropped: (event: RelayEvent, count: number) => void;
}

/** What was decided, and when it is written down. */
interface Decision {
  readonly offer: Offer;
  readonly written: Promise<unknown>;
}

/**
 * Takes events in. Those of one channel are decided on one after the other, in the order of the calls, however long the settings take
 * to be read.
 */
export function createOffers({ book, write, clock, rulesFor, onDropped }: Desk): (event: RelayEvent) => Promise<Offer> {
  const latest = new Map<string, Promise<unknown>>();

  const decide = async (event: RelayEvent): Promise<Decision> => {
    if (book.knows(event.id)) return settled({ status: 'duplicate' });
    const rules = await rulesFor(event.guildId, event.channelId);
    // From here on nothing is waited for. The same event may have come in by another channel's turn.
    if (book.knows(event.id)) return settled({ status: 'duplicate' });
    const group = [...book.lines()].filter((line) => groupOf(line) === groupOf(event));
    const excess = count(group) + 1 - rules.maxQueueSize;
    if (excess > 0) onDropped(event, rules.whenFull === 'drop-oldest' ? excess : 1);
    if (excess > 0 && rules.whenFull === 'refuse-newest') return settled({ status: 'refused', reason: 'full' });
    const oldest = excess > 0 ? oldestOf(group).slice(0, excess) : [];
    return take(event, oldest);
  };

  const take = (event: RelayEvent, instead: readonly number[]): Decision => {
    const room = instead.length > 0 ? [write({ is: 'dropped', of: [...instead] })] : [];
    const line = book.line(event.channelId);
    const ahead = line === undefined ? 0 : line.waiting.length + line.parcels.flatMap(({ entries }) => entries).length;
    const n = book.next();
    const taken = write({ is: 'taken', n, at: clock.now(), event });
    const written = Promise.all([...room, taken]).catch((error: unknown) => {
      book.withdraw(n);
      throw error;
    });
    return { offer: { status: 'taken', ahead }, written };
  };

  return async (event) => {
    const before = latest.get(event.channelId);
    const deciding = (async () => {
      await before;
      return decide(event);
    })();
    const done = deciding.then(nothing, nothing);
    latest.set(event.channelId, done);
    try {
      const { offer, written } = await deciding;
      await written;
      return offer;
    } finally {
      if (latest.get(event.channelId) === done) latest.delete(event.channelId);
    }
  };
}

const nothing = () => undefined;
const settled = (offer: Offer): Decision => ({ offer, written: Promise.resolve() });

/** Whose queue it is that may be full: a guild's, or that of one person's direct messages. */
const groupOf = ({ guildId, channelId }: { readonly guildId: string | null; readonly channelId: string }) =>
  guildId ?? channelId;

const count = (lines: readonly Line[]) => lines.reduce((sum, { waiting }) => sum + waiting.length, 0);

const oldestOf = (lines: readonly Line[]) =>
  lines.flatMap(({ waiting }) => waiting.map(({ n }) => n)).sort((a, b) => a - b);

/** Events of a guild that were given up because too many waited. */
export interface Drop {
  readonly guildId: string | null;
  /** Where the latest of them happened. */
  readonly channelId: string;
  /** How many since the last time that this was told. */
  readonly count: number;
}

interface Drops {
  note(guildId: string | null, channelId: string, count: number): void;
  /** Since this process started. */
  total(guildId: string | null): number;
  stop(): void;
}

/** Tells of the first drop at once, and of those that follow together, once in `everyMs`. Each person's direct messages count by themselves. */
export function createDrops(clock: Clock, everyMs: number, tell: (drop: Drop) => unknown): Drops {
  const totals = new Map<string | null, number>();
  /** Those of whom was told lately, with what has happened since. */
  const quiet = new Map<string, { since: Drop | undefined; readonly stopTimer: () => void }>();

  const say = (group: string, drop: Drop) => {
    const stopTimer = clock.after(everyMs, () => {
      const since = quiet.get(group)?.since;
      quiet.delete(group);
      if (since !== undefined) say(group, since);
    });
    quiet.set(group, { since: undefined, stopTimer });
    tell(drop);
  };

  return {
    note(guildId, channelId, count) {
      totals.set(guildId, (totals.get(guildId) ?? 0) + count);
      const group = guildId ?? channelId;
      const lately = quiet.get(group);
      if (lately === undefined) say(group, { guildId, channelId, count });
      else lately.since = { guildId, channelId, count: count + (lately.since?.count ?? 0) };
    },
    total: (guildId) => totals.get(guildId) ?? 0,
    stop() {
      for (const { stopTimer } of quiet.values()) stopTimer();
      quiet.clear();
    },
  };
}
