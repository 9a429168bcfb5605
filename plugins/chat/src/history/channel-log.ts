import { compareIds, idAfter, idBefore, newerId, OLDEST_ID, olderId } from '@cinnabar/sdk';
import { edited, isSame, reacted, type StoredMessage, unreacted } from './message.js';

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

interface MutableRange extends MessageRange {
  from: string;
  messages: StoredMessage[];
}

export type ChannelLog = ReturnType<typeof createChannelLog>;

/** What is known of one channel's history. */
export function createChannelLog(place: LogPlace) {
  let ranges: MutableRange[] = [];
  let newest = OLDEST_ID;
  let epoch = 0;
  let buffer: ChangeBuffer | undefined;
  /** Counted along, since it is asked for with every message. */
  let messageCount = 0;
  let bytes = 0;
  /** How many of the newest the readers needed since the last trimming; those before it when there were none. */
  let reach = 0;
  let isReachOld = false;

  const recount = () => {
    messageCount = ranges.reduce((sum, { messages }) => sum + messages.length, 0);
    bytes = ranges.reduce((sum, { messages }) => sum + bytesOf(messages), 0);
  };
  /** Takes so many off the beginning of a range, which then begins later. One message always stays: it is where the range begins. */
  const shorten = (range: MutableRange, count: number) => {
    const dropped = range.messages.splice(0, Math.min(count, range.messages.length - 1));
    messageCount -= dropped.length;
    bytes -= bytesOf(dropped);
    range.from = range.messages[0]?.message.id ?? range.from;
  };

  return {
    ...place,
    /** What it holds. */
    get size(): LogSize {
      return { messages: messageCount, bytes };
    },
    /** The newest message that it knows of. */
    get newest(): string {
      return newest;
    },
    /** Rises when events may have been missed: a page that was under way then is worth nothing. */
    get epoch(): number {
      return epoch;
    },
    /** The trusted range that holds this position; `undefined` is now. */
    at: (id: string | undefined): MessageRange | undefined =>
      ranges.find((range) => range.trusted && covers(range, id)),
    apply(change: Change): void {
      buffer?.note(change);
      if (change.kind === 'created') newest = newerId(newest, change.id);
      const range = ranges.find((one) => covers(one, change.id));
      if (range === undefined) return;
      const difference = applyTo(range.messages, change);
      messageCount += difference.messages;
      bytes += difference.bytes;
    },
    /** A message that is no part of history, but shows that events arrive. */
    heardOf(id: string): void {
      newest = newerId(newest, id);
    },
    /** Adds what Discord says; a doubtful range that it confirms is trusted again. */
    add(fresh: MessageRange): void {
      let joined = fresh;
      const rest: MessageRange[] = [];
      for (const old of ranges) {
        if (!touch(joined, old)) rest.push(old);
        else if (old.trusted || confirms(fresh, old)) joined = join(joined, old);
        else rest.push(...without(fresh, old));
      }
      ranges = [...rest, joined].map(mutable).sort((a, b) => compareIds(a.from, b.from));
      recount();
      const last = joined.to === undefined ? joined.messages.at(-1) : undefined;
      if (last !== undefined) newest = newerId(newest, last.message.id);
    },
    /** From here on, what is known needs to be compared with Discord. Nothing after `lastSure` counts. */
    doubt(lastSure: string): void {
      epoch += 1;
      ranges = ranges.flatMap((range) => {
        const to = range.to ?? lastSure;
        if (compareIds(to, range.from) < 0) return [];
        const messages = range.messages.slice(0, positionOf(range.messages, idAfter(to)));
        return [{ ...range, to, messages, trusted: false }];
      });
      recount();
    },
    /** Gathers changes from now on, while a page is fetched. */
    openBuffer(): ChangeBuffer {
      buffer = createChangeBuffer();
      return buffer;
    },
    closeBuffer(): void {
      buffer = undefined;
    },
    /** A reader needed so many of the newest messages: live messages do not push them out. */
    needed(messages: number): void {
      if (messages === 0) return;
      reach = isReachOld ? messages : Math.max(reach, messages);
      isReachOld = false;
    },
    /** Removes what live messages have made older than any reader needed; it is fetched again when a reader does. */
    trimLive(): void {
      const live = ranges.at(-1);
      const kept = reach + SPARE_MESSAGES;
      if (live === undefined || live.to !== undefined || live.messages.length <= kept * SLACK) return;
      shorten(live, live.messages.length - kept);
      isReachOld = true;
    },
    /** Removes the oldest until it holds no more than this. */
    trim(most: LogSize): void {
      if (messageCount <= most.messages * SLACK && bytes <= most.bytes) return;
      const goal = { messages: most.messages, bytes: bytes <= most.bytes ? most.bytes : most.bytes / SLACK };
      const isWithin = (messages: number, size: number) => messages <= goal.messages && size <= goal.bytes;
      while (!isWithin(messageCount, bytes)) {
        const [oldest] = ranges;
        if (oldest === undefined) return;
        let [dropped, left] = [0, bytes];
        while (dropped < oldest.messages.length && !isWithin(messageCount - dropped, left)) {
          left -= oldest.messages[dropped]?.bytes ?? 0;
          dropped += 1;
        }
        if (ranges.length === 1 || dropped < oldest.messages.length) {
          shorten(oldest, dropped);
          return;
        }
        ranges.shift();
        messageCount -= dropped;
        bytes = left;
      }
    },
  };
}

function mutable(range: MessageRange): MutableRange {
  return { ...range, messages: [...range.messages] };
}

function bytesOf(messages: readonly StoredMessage[]): number {
  return messages.reduce((sum, held) => sum + held.bytes, 0);
}

/** @returns by how much it has grown */
function applyTo(messages: StoredMessage[], change: Change): LogSize {
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

/** Something that happened to a message. */
export type Change =
  | { readonly kind: 'created'; readonly id: string; readonly held: StoredMessage }
  | { readonly kind: 'updated'; readonly id: string; readonly held: StoredMessage }
  | { readonly kind: 'deleted'; readonly id: string }
  | {
      readonly kind: 'reaction';
      readonly id: string;
      readonly key: string;
      readonly name: string;
      readonly by: 1 | -1;
      readonly mine: boolean;
    }
  | { readonly kind: 'unreacted'; readonly id: string; readonly key?: string };

type ChangeBuffer = ReturnType<typeof createChangeBuffer>;

/**
 * What happened while a page was fetched. Whether the page was cut before or after an event is unknown, but events are complete and in order:
 * what one says in full (a new message, an edit, a deletion) holds against the page, since what came after it is announced too.
 */
function createChangeBuffer() {
  const created = new Map<string, StoredMessage>();
  const updated = new Map<string, StoredMessage>();
  const deleted = new Set<string>();
  const uncertain = new Set<string>();

  const onCreated = (id: string, change: (held: StoredMessage) => StoredMessage): boolean => {
    const held = created.get(id);
    if (held !== undefined) created.set(id, change(held));
    return held !== undefined;
  };

  return {
    note(change: Change): void {
      const { id } = change;
      if (change.kind === 'created') created.set(id, change.held);
      else if (change.kind === 'deleted') {
        created.delete(id);
        deleted.add(id);
      } else if (change.kind === 'updated') {
        if (!onCreated(id, (held) => edited(held, change.held))) updated.set(id, change.held);
      } else if (!onCreated(id, (held) => applyReaction(held, change))) uncertain.add(id);
    },
    /** The page's messages as they are now, and those that were posted meanwhile. */
    apply(page: readonly StoredMessage[]): readonly StoredMessage[] {
      const kept = page.flatMap((held) => {
        const { id } = held.message;
        if (deleted.has(id) || created.has(id)) return [];
        const edit = updated.get(id);
        return [edit === undefined ? held : edited(held, edit)];
      });
      return [...kept, ...created.values()];
    },
    /** Whether reactions changed that the page may or may not have counted: then it has to be fetched again. */
    contradicts: (page: readonly StoredMessage[]) =>
      page.some(({ message }) => uncertain.has(message.id) && !deleted.has(message.id)),
  };
}

type ReactionChange = Extract<Change, { kind: 'reaction' | 'unreacted' }>;

function applyReaction(held: StoredMessage, change: ReactionChange): StoredMessage {
  if (change.kind === 'unreacted') return unreacted(held, change.key);
  return reacted(held, change.key, change.name, change.by, change.mine);
}

/** A part of a channel's history without gaps. */
export interface MessageRange {
  /** Everything from this id on is here; `OLDEST_ID` when nothing older exists. */
  readonly from: string;
  /** Up to this id; `undefined`: up to now, kept by events. */
  readonly to: string | undefined;
  /** Oldest first. */
  readonly messages: readonly StoredMessage[];
  /** False when events may have been missed: then it is compared with what Discord says before it is read. */
  readonly trusted: boolean;
}

function covers({ from, to }: MessageRange, id: string | undefined): boolean {
  if (id === undefined) return to === undefined;
  return compareIds(from, id) <= 0 && (to === undefined || compareIds(id, to) <= 0);
}

/** Where `id` is in the list, or would be. */
export function positionOf(messages: readonly StoredMessage[], id: string): number {
  let [low, high] = [0, messages.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = messages[middle];
    if (at !== undefined && compareIds(at.message.id, id) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The messages from `from` up to `to`, both included. */
export function between(
  messages: readonly StoredMessage[],
  from: string,
  to: string | undefined,
): readonly StoredMessage[] {
  const end = to === undefined ? messages.length : positionOf(messages, idAfter(to));
  return messages.slice(positionOf(messages, from), end);
}

/** Whether they overlap, or one begins where the other ends. */
function touch(a: MessageRange, b: MessageRange): boolean {
  const reaches = (one: MessageRange, other: MessageRange) =>
    one.to === undefined || compareIds(idAfter(one.to), other.from) >= 0;
  return reaches(a, b) && reaches(b, a);
}

/** Both as one; where they overlap, `fresh` holds. */
function join(fresh: MessageRange, old: MessageRange): MessageRange {
  const older = between(old.messages, old.from, idBefore(fresh.from));
  const newer = fresh.to === undefined ? [] : between(old.messages, idAfter(fresh.to), undefined);
  return {
    from: olderId(fresh.from, old.from),
    to: fresh.to === undefined || old.to === undefined ? undefined : newerId(fresh.to, old.to),
    messages: [...older, ...fresh.messages, ...newer],
    trusted: true,
  };
}

/** What is left of `old` beside `fresh`: at most a part before and a part after. */
function without(fresh: MessageRange, old: MessageRange): readonly MessageRange[] {
  const parts: MessageRange[] = [];
  if (compareIds(old.from, fresh.from) < 0) {
    const to = old.to === undefined ? idBefore(fresh.from) : olderId(old.to, idBefore(fresh.from));
    parts.push({ ...old, to, messages: between(old.messages, old.from, to) });
  }
  if (fresh.to !== undefined && (old.to === undefined || compareIds(fresh.to, old.to) < 0)) {
    const from = newerId(old.from, idAfter(fresh.to));
    parts.push({ ...old, from, messages: between(old.messages, from, old.to) });
  }
  return parts;
}

/** So many messages without a change tell that those before them have not changed either. */
const ENOUGH = 25;

/** Whether what Discord says now bears out an old range: where they overlap, nothing has been edited, deleted or reacted to meanwhile. */
function confirms(fresh: MessageRange, old: MessageRange): boolean {
  const now = between(fresh.messages, old.from, old.to);
  const then = between(old.messages, fresh.from, fresh.to);
  if (now.length < ENOUGH || now.length !== then.length) return false;
  return now.every((held, at) => {
    const before = then[at];
    return before !== undefined && before.message.id === held.message.id && isSame(before, held);
  });
}
