import type { Memory } from '../types.js';

/** The order in which things were said. A memory is only ever superseded by a later one, so that no chain comes back to itself. */
export function byTime(one: Memory, other: Memory): number {
  return one.at - other.at || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

export const isLater = (one: Memory, other: Memory): boolean => byTime(one, other) > 0;

/** Whether it is what is held to be so: not superseded, the same as another, or put out of mind. */
export const stands = ({ supersededBy, duplicateOf, setAsideAt }: Memory): boolean =>
  supersededBy === null && duplicateOf === null && setAsideAt === null;

/** Whether somebody speaks for themselves. */
export const isFirstHand = ({ speaker, subject }: Memory): boolean => speaker === subject;
