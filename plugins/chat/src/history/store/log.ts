import { compareIds, idAfter, newerId, OLDEST } from '../snowflake.js';
import { edited, type Held } from './held.js';
import { applyReaction, type Change, createJournal, type Journal } from './journal.js';
import { confirms, covers, join, positionOf, type Stretch, touch, without } from './stretch.js';

/** Where a log belongs, so that it can be found when something happens to all of a guild or shard. */
export interface LogPlace {
  readonly channelId: string;
  readonly guildId: string | null;
  readonly shardId: number;
}

/** What is known of one channel's history. */
export interface ChannelLog extends LogPlace {
  /** How many messages it holds. */
  readonly size: number;
  /** The newest message it has heard of. */
  readonly newest: string;
  /** Rises when events may have been missed: a page that was under way then is worth nothing. */
  readonly epoch: number;
  /** The trusted stretch that holds this position; `undefined` is now. */
  at(id: string | undefined): Stretch | undefined;
  apply(change: Change): void;
  /** A message that is no part of history, but shows that events arrive. */
  heardOf(id: string): void;
  /** Adds what Discord says; a doubtful stretch that it bears out is trusted again. */
  add(fresh: Stretch): void;
  /** From here on, what is known needs to be compared with Discord. Nothing after `lastSure` counts. */
  doubt(lastSure: string): void;
  openJournal(): Journal;
  closeJournal(): void;
  /** Lets go of the oldest. */
  trim(capacity: number): void;
  /** The request under way, which other readers wait for. */
  busy: Promise<void> | undefined;
}

interface Open extends Stretch {
  from: string;
  messages: Held[];
}

export function createChannelLog(place: LogPlace): ChannelLog {
  let stretches: Open[] = [];
  let newest = OLDEST;
  let epoch = 0;
  let journal: Journal | undefined;
  const size = () => stretches.reduce((sum, { messages }) => sum + messages.length, 0);

  return {
    ...place,
    get size() {
      return size();
    },
    get newest() {
      return newest;
    },
    get epoch() {
      return epoch;
    },
    at: (id) => stretches.find((stretch) => stretch.trusted && covers(stretch, id)),
    apply(change) {
      journal?.note(change);
      if (change.kind === 'created') newest = newerId(newest, change.id);
      const stretch = stretches.find((one) => covers(one, change.id));
      if (stretch !== undefined) applyTo(stretch.messages, change);
    },
    heardOf(id) {
      newest = newerId(newest, id);
    },
    add(fresh) {
      let joined = fresh;
      const rest: Stretch[] = [];
      for (const old of stretches) {
        if (!touch(joined, old)) rest.push(old);
        else if (old.trusted || confirms(fresh, old)) joined = join(joined, old);
        else rest.push(...without(fresh, old));
      }
      stretches = [...rest, joined].map(open).sort((a, b) => compareIds(a.from, b.from));
      const last = joined.to === undefined ? joined.messages.at(-1) : undefined;
      if (last !== undefined) newest = newerId(newest, last.message.id);
    },
    doubt(lastSure) {
      epoch += 1;
      stretches = stretches.flatMap((stretch) => {
        const to = stretch.to ?? lastSure;
        if (compareIds(to, stretch.from) < 0) return [];
        const messages = stretch.messages.slice(0, positionOf(stretch.messages, idAfter(to)));
        return [{ ...stretch, to, messages, trusted: false }];
      });
    },
    openJournal() {
      journal = createJournal();
      return journal;
    },
    closeJournal() {
      journal = undefined;
    },
    trim(capacity) {
      let excess = size() - capacity;
      // Some slack, so that not every message of a long-lived channel moves the whole list.
      if (excess <= capacity / 4) return;
      while (excess > 0) {
        const [oldest] = stretches;
        if (oldest === undefined) return;
        if (oldest.to !== undefined && oldest.messages.length <= excess) {
          excess -= oldest.messages.length;
          stretches.shift();
        } else {
          oldest.messages.splice(0, excess);
          oldest.from = oldest.messages[0]?.message.id ?? oldest.from;
          return;
        }
      }
    },
    busy: undefined,
  };
}

function open(stretch: Stretch): Open {
  return { ...stretch, messages: [...stretch.messages] };
}

function applyTo(messages: Held[], change: Change): void {
  const at = positionOf(messages, change.id);
  const held = messages[at];
  const known = held?.message.id === change.id ? held : undefined;
  if (change.kind === 'created') {
    if (known === undefined) messages.splice(at, 0, change.held);
  } else if (known === undefined) return;
  else if (change.kind === 'deleted') messages.splice(at, 1);
  else messages[at] = change.kind === 'updated' ? edited(known, change.held) : applyReaction(known, change);
}
