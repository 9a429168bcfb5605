import { compareIds, idAfter, newerId, OLDEST_ID } from '@cinnabar/sdk';
import { applyReaction, type Change, type ChangeBuffer, createChangeBuffer } from './change-buffer.js';
import { edited, type Held } from './held-message.js';
import { confirms, covers, join, type MessageRange, positionOf, touch, without } from './message-range.js';

/** Where a log belongs, so that it can be found when something happens to all of a guild or shard. */
export interface LogPlace {
  readonly channelId: string;
  readonly guildId: string | null;
  readonly shardId: number;
}

/** How much a log may hold. */
export interface LogSize {
  readonly messages: number;
  readonly bytes: number;
}

/** Some slack, so that not every message of a long-lived channel moves the whole list. */
const SLACK = 1.1;
/** Beyond what the last readers needed of the newest messages: the next one begins where they began, and more has been said. */
const SPARE_MESSAGES = 100;

/** What is known of one channel's history. */
export interface ChannelLog extends LogPlace {
  /** What it holds. */
  readonly size: LogSize;
  /** The newest message it has heard of. */
  readonly newest: string;
  /** Rises when events may have been missed: a page that was under way then is worth nothing. */
  readonly epoch: number;
  /** The trusted stretch that holds this position; `undefined` is now. */
  at(id: string | undefined): MessageRange | undefined;
  apply(change: Change): void;
  /** A message that is no part of history, but shows that events arrive. */
  heardOf(id: string): void;
  /** Adds what Discord says; a doubtful stretch that it bears out is trusted again. */
  add(fresh: MessageRange): void;
  /** From here on, what is known needs to be compared with Discord. Nothing after `lastSure` counts. */
  doubt(lastSure: string): void;
  openJournal(): ChangeBuffer;
  closeJournal(): void;
  /** A reader needed so many of the newest messages: live messages do not push them out. */
  needed(messages: number): void;
  /** Lets go of what live messages have made older than any reader needed; Discord is asked for it again when one does. */
  trimLive(): void;
  /** Lets go of the oldest until it holds no more than this. */
  trim(most: LogSize): void;
  /** The request under way, which other readers wait for. */
  busy: Promise<void> | undefined;
}

interface Open extends MessageRange {
  from: string;
  messages: Held[];
}

export function createChannelLog(place: LogPlace): ChannelLog {
  let stretches: Open[] = [];
  let newest = OLDEST_ID;
  let epoch = 0;
  let journal: ChangeBuffer | undefined;
  /** Counted along, since it is asked for with every message. */
  let messageCount = 0;
  let bytes = 0;
  /** How many of the newest the readers needed since the last trimming; those before it when there were none. */
  let reach = 0;
  let isReachOld = false;

  const recount = () => {
    messageCount = stretches.reduce((sum, { messages }) => sum + messages.length, 0);
    bytes = stretches.reduce((sum, { messages }) => sum + bytesOf(messages), 0);
  };
  /** Takes so many off the beginning of a stretch, which then begins later. One message always stays: it is where the stretch begins. */
  const shorten = (stretch: Open, count: number) => {
    const dropped = stretch.messages.splice(0, Math.min(count, stretch.messages.length - 1));
    messageCount -= dropped.length;
    bytes -= bytesOf(dropped);
    stretch.from = stretch.messages[0]?.message.id ?? stretch.from;
  };

  return {
    ...place,
    get size() {
      return { messages: messageCount, bytes };
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
      if (stretch === undefined) return;
      const difference = applyTo(stretch.messages, change);
      messageCount += difference.messages;
      bytes += difference.bytes;
    },
    heardOf(id) {
      newest = newerId(newest, id);
    },
    add(fresh) {
      let joined = fresh;
      const rest: MessageRange[] = [];
      for (const old of stretches) {
        if (!touch(joined, old)) rest.push(old);
        else if (old.trusted || confirms(fresh, old)) joined = join(joined, old);
        else rest.push(...without(fresh, old));
      }
      stretches = [...rest, joined].map(open).sort((a, b) => compareIds(a.from, b.from));
      recount();
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
      recount();
    },
    openJournal() {
      journal = createChangeBuffer();
      return journal;
    },
    closeJournal() {
      journal = undefined;
    },
    needed(messages) {
      if (messages === 0) return;
      reach = isReachOld ? messages : Math.max(reach, messages);
      isReachOld = false;
    },
    trimLive() {
      const live = stretches.at(-1);
      const kept = reach + SPARE_MESSAGES;
      if (live === undefined || live.to !== undefined || live.messages.length <= kept * SLACK) return;
      shorten(live, live.messages.length - kept);
      isReachOld = true;
    },
    trim(most) {
      if (messageCount <= most.messages * SLACK && bytes <= most.bytes) return;
      const goal = { messages: most.messages, bytes: bytes <= most.bytes ? most.bytes : most.bytes / SLACK };
      const isWithin = (messages: number, size: number) => messages <= goal.messages && size <= goal.bytes;
      while (!isWithin(messageCount, bytes)) {
        const [oldest] = stretches;
        if (oldest === undefined) return;
        let [dropped, left] = [0, bytes];
        while (dropped < oldest.messages.length && !isWithin(messageCount - dropped, left)) {
          left -= oldest.messages[dropped]?.bytes ?? 0;
          dropped += 1;
        }
        if (stretches.length === 1 || dropped < oldest.messages.length) {
          shorten(oldest, dropped);
          return;
        }
        stretches.shift();
        messageCount -= dropped;
        bytes = left;
      }
    },
    busy: undefined,
  };
}

function open(stretch: MessageRange): Open {
  return { ...stretch, messages: [...stretch.messages] };
}

function bytesOf(messages: readonly Held[]): number {
  return messages.reduce((sum, held) => sum + held.bytes, 0);
}

/** @returns by how much it has grown */
function applyTo(messages: Held[], change: Change): LogSize {
  const at = positionOf(messages, change.id);
  const held = messages[at];
  const known = held?.message.id === change.id ? held : undefined;
  if (change.kind === 'created') {
    if (known !== undefined) return SAME;
    messages.splice(at, 0, change.held);
    return { messages: 1, bytes: change.held.bytes };
  }
  if (known === undefined) return SAME;
  if (change.kind === 'deleted') {
    messages.splice(at, 1);
    return { messages: -1, bytes: -known.bytes };
  }
  const next = change.kind === 'updated' ? edited(known, change.held) : applyReaction(known, change);
  messages[at] = next;
  return { messages: 0, bytes: next.bytes - known.bytes };
}

const SAME: LogSize = { messages: 0, bytes: 0 };
