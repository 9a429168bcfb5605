import { compareIds, idAfter, idBefore, newerId, OLDEST_ID, olderId } from '@cinnabar/sdk';
import { edited, isSame, reacted, type StoredMessage, unreacted } from './message.js';

/** The place of a log, by which it is found for events of a guild or shard. */
export interface LogPlace {
  readonly channelId: string;
  readonly guildId: string | null;
  readonly shardId: number;
}

/** Limits of a log. */
export interface LogSize {
  readonly messages: number;
  readonly bytes: number;
}

/** Tolerance, so that not every message of an active channel leads to a removal. */
const SLACK = 1.1;
/** Messages kept beyond the number that readers have needed, because the next reader begins at the same message, and newer ones have arrived by then. */
const SPARE_MESSAGES = 100;

interface MutableRange extends MessageRange {
  from: string;
  messages: StoredMessage[];
}

export type ChannelLog = ReturnType<typeof createChannelLog>;

/** The known part of one channel's history. */
export function createChannelLog(place: LogPlace) {
  let ranges: MutableRange[] = [];
  let newest = OLDEST_ID;
  let epoch = 0;
  let buffer: ChangeBuffer | undefined;
  /** Updated incrementally, because it is read for every message. */
  let messageCount = 0;
  let bytes = 0;
  /** The number of newest messages that readers have needed since the last trimming; without readers, before it. */
  let reach = 0;
  let isReachOld = false;

  const recount = () => {
    messageCount = ranges.reduce((sum, { messages }) => sum + messages.length, 0);
    bytes = ranges.reduce((sum, { messages }) => sum + bytesOf(messages), 0);
  };
  /** Removes messages from the beginning of a range, but never the last one, which marks where the range begins. */
  const shorten = (range: MutableRange, count: number) => {
    const dropped = range.messages.splice(0, Math.min(count, range.messages.length - 1));
    messageCount -= dropped.length;
    bytes -= bytesOf(dropped);
    range.from = range.messages[0]?.message.id ?? range.from;
  };

  return {
    ...place,
    /** The number of messages and bytes in the log. */
    get size(): LogSize {
      return { messages: messageCount, bytes };
    },
    /** The newest known message. */
    get newest(): string {
      return newest;
    },
    /** Increases when events may have been missed; a page that was requested before is then discarded. */
    get epoch(): number {
      return epoch;
    },
    /** The trusted range that contains this id; `undefined` stands for now. */
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
    /** Notes a message that is not part of the history, but shows that events arrive. */
    noteNewest(id: string): void {
      newest = newerId(newest, id);
    },
    /** Adds a page from Discord. An unsure range that the page confirms is trusted again. */
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
    /** Marks all ranges as unsure until they are compared with Discord, and removes messages after `lastSure`. */
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
    /** Records changes until `closeBuffer`, while a page is fetched. */
    openBuffer(): ChangeBuffer {
      buffer = createChangeBuffer();
      return buffer;
    },
    closeBuffer(): void {
      buffer = undefined;
    },
    /** Notes that a reader needed this many of the newest messages, so that new messages do not displace them. */
    needed(messages: number): void {
      if (messages === 0) return;
      reach = isReachOld ? messages : Math.max(reach, messages);
      isReachOld = false;
    },
    /** Removes messages that no reader has needed since the last trimming. A reader that needs them fetches them again. */
    trimLive(): void {
      const live = ranges.at(-1);
      const kept = reach + SPARE_MESSAGES;
      if (live === undefined || live.to !== undefined || live.messages.length <= kept * SLACK) return;
      shorten(live, live.messages.length - kept);
      isReachOld = true;
    },
    /** Removes the oldest messages until the log is within this limit. */
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

/** Applies a change to a list. @returns the difference in size */
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

/** A change of a message. */
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
 * Records changes while a page is fetched. It is unknown whether the page is older or newer than an event, but events are complete and in order: complete
 * information in an event (a new message, an edit, a deletion) overrides the page, because later changes lead to events, too.
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
    /** The current versions of the page's messages, with messages that were posted meanwhile. */
    apply(page: readonly StoredMessage[]): readonly StoredMessage[] {
      const kept = page.flatMap((held) => {
        const { id } = held.message;
        if (deleted.has(id) || created.has(id)) return [];
        const edit = updated.get(id);
        return [edit === undefined ? held : edited(held, edit)];
      });
      return [...kept, ...created.values()];
    },
    /** Whether reactions changed that the page may or may not contain; then it has to be fetched again. */
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
  /** Everything from this id on is known; `OLDEST_ID` when nothing older exists. */
  readonly from: string;
  /** Up to this id; `undefined`: up to now, updated by events. */
  readonly to: string | undefined;
  /** Oldest first. */
  readonly messages: readonly StoredMessage[];
  /** `false` when events may have been missed; then the range is compared with Discord before it is read. */
  readonly trusted: boolean;
}

function covers({ from, to }: MessageRange, id: string | undefined): boolean {
  if (id === undefined) return to === undefined;
  return compareIds(from, id) <= 0 && (to === undefined || compareIds(id, to) <= 0);
}

/** The index of `id` in the list, or where it would be inserted. */
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

/** Whether two ranges overlap or touch. */
function touch(a: MessageRange, b: MessageRange): boolean {
  const reaches = (one: MessageRange, other: MessageRange) =>
    one.to === undefined || compareIds(idAfter(one.to), other.from) >= 0;
  return reaches(a, b) && reaches(b, a);
}

/** Merges two ranges; where they overlap, `fresh` is used. */
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

/** The parts of `old` outside `fresh`: at most one before and one after. */
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

/** Number of unchanged messages after which the older ones count as unchanged, too. */
const ENOUGH = 25;

/** Whether a page from Discord confirms an unsure range: where they overlap, no message was edited, deleted or reacted to. */
function confirms(fresh: MessageRange, old: MessageRange): boolean {
  const now = between(fresh.messages, old.from, old.to);
  const then = between(old.messages, fresh.from, fresh.to);
  if (now.length < ENOUGH || now.length !== then.length) return false;
  return now.every((held, at) => {
    const before = then[at];
    return before !== undefined && before.message.id === held.message.id && isSame(before, held);
  });
}
