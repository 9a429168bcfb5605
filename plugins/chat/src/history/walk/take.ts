import { compareIds, OLDEST } from '../snowflake.js';
import type { Held } from '../store/held.js';
import { between, positionOf, type Stretch } from '../store/stretch.js';

/** How much a reader wants. */
export interface Want {
  readonly count: number;
  /** And everything from this id on, … */
  readonly from: string | undefined;
  /** … but never more than this. */
  readonly most: number;
}

/** What a stretch has of it. */
export interface Taken {
  /** Oldest first. */
  readonly messages: readonly Held[];
  /** It begins where the place begins. */
  readonly complete: boolean;
  readonly enough: boolean;
}

/** The newest messages of a place, as many as wanted and known. */
export function take(
  stretch: Stretch,
  { upTo, downTo = OLDEST }: { readonly upTo: string | undefined; readonly downTo: string | undefined },
  { count, from, most }: Want,
): Taken {
  const all = between(stretch.messages, downTo, upTo);
  const byCount = Math.max(0, all.length - count);
  const byId = from === undefined ? byCount : Math.min(byCount, positionOf(all, from));
  const start = Math.max(byId, all.length - most, 0);
  const reachesFrom = from === undefined || compareIds(stretch.from, from) <= 0 || all.length >= most;
  return {
    messages: all.slice(start),
    complete: start === 0 && compareIds(stretch.from, downTo) <= 0,
    enough: all.length >= count && reachesFrom,
  };
}
