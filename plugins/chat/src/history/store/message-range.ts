import { compareIds, idAfter, idBefore, newerId, olderId } from '@cinnabar/sdk';
import { type Held, isSame } from './held-message.js';

/** A part of a channel's history without gaps. */
export interface MessageRange {
  /** Everything from this id on is here; `OLDEST_ID` when nothing older exists. */
  readonly from: string;
  /** Up to this id; `undefined`: up to now, kept by events. */
  readonly to: string | undefined;
  /** Oldest first. */
  readonly messages: readonly Held[];
  /** False when events may have been missed: then it is compared with what Discord says before anybody reads it. */
  readonly trusted: boolean;
}

export function covers({ from, to }: MessageRange, id: string | undefined): boolean {
  if (id === undefined) return to === undefined;
  return compareIds(from, id) <= 0 && (to === undefined || compareIds(id, to) <= 0);
}

/** Where `id` is in the list, or would be. */
export function positionOf(messages: readonly Held[], id: string): number {
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
export function between(messages: readonly Held[], from: string, to: string | undefined): readonly Held[] {
  const end = to === undefined ? messages.length : positionOf(messages, idAfter(to));
  return messages.slice(positionOf(messages, from), end);
}

/** Whether they overlap, or one begins where the other ends. */
export function touch(a: MessageRange, b: MessageRange): boolean {
  const reaches = (one: MessageRange, other: MessageRange) =>
    one.to === undefined || compareIds(idAfter(one.to), other.from) >= 0;
  return reaches(a, b) && reaches(b, a);
}

/** Both as one; where they overlap, `fresh` holds. */
export function join(fresh: MessageRange, old: MessageRange): MessageRange {
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
export function without(fresh: MessageRange, old: MessageRange): readonly MessageRange[] {
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

/** Whether what Discord says now bears out an old stretch: where they overlap, nothing has been edited, deleted or reacted to meanwhile. */
export function confirms(fresh: MessageRange, old: MessageRange): boolean {
  const now = between(fresh.messages, old.from, old.to);
  const then = between(old.messages, fresh.from, fresh.to);
  if (now.length < ENOUGH || now.length !== then.length) return false;
  return now.every((held, at) => {
    const before = then[at];
    return before !== undefined && before.message.id === held.message.id && isSame(before, held);
  });
}
