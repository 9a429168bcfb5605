import type { ModelTraits } from '@cinnabar/sdk';
import type { CacheEntry, Ttl } from '../memory.js';
import type { Breakpoint } from '../types.js';
import type { Layout } from './layouts.js';
import type { PrefixEnd } from './prefixes.js';

/** Where prefixes may end in this request; the ids of messages that are in it. */
export interface Places {
  readonly baseId: string | undefined;
  /** The longest prefix that the provider holds: as a rule the tail of the previous request. */
  readonly heldId: string | undefined;
  readonly tailId: string | undefined;
  /** The message before the tail. */
  readonly spareId: string | undefined;
}

export interface LaidBreakpoint extends Breakpoint {
  readonly end: PrefixEnd;
}

/**
 * Breakpoints for a request, in their order: tools and system prompt, base, what is held, tail. A prefix that is not to be written is
 * marked all the same while the provider holds it, so that it is read. Prefixes below the model's minimum are not marked, and none of
 * five minutes comes before one of an hour. Where the tail would be the only message with a mark, the one before it gets one too, at no
 * cost: people edit their latest message more than any other.
 * @param ends in the order in which they stand in the request
 */
export function layBreakpoints(
  layout: Layout,
  ends: readonly PrefixEnd[],
  places: Places,
  held: readonly CacheEntry[],
  rules: ModelTraits['cache'],
): readonly LaidBreakpoint[] {
  if (rules.kind !== 'explicit') return [];
  const large = ends.filter((end) => isCacheable(end, rules));
  const others = new Set([places.baseId, places.heldId].filter((id) => id !== places.tailId));
  const spareId = large.some(({ id }) => others.has(id)) ? undefined : places.spareId;
  const laid = large
    .map((end) => markFor(end, layout, { ...places, spareId }, held))
    .filter((mark) => mark !== undefined)
    .slice(-rules.breakpoints);
  const lastHour = laid.findLastIndex(({ ttl }) => ttl === '1h');
  return laid.map((mark, index) => (index < lastHour ? { ...mark, ttl: '1h' } : mark));
}

/** Sizes are estimates, on the large side: what might fall below the minimum would be missed silently. */
export function isCacheable({ tokens }: PrefixEnd, { minTokens }: ModelTraits['cache']): boolean {
  return tokens >= minTokens * MARGIN;
}
const MARGIN = 1.2;

function markFor(
  end: PrefixEnd,
  layout: Layout,
  { baseId, heldId, tailId, spareId }: Places,
  held: readonly CacheEntry[],
): LaidBreakpoint | undefined {
  const entry = held.find(({ hash }) => hash === end.hash);
  const mark = (ttl: Ttl | undefined, because: string): LaidBreakpoint | undefined => {
    if (ttl !== undefined) return { at: end.id, ttl, because, end };
    return entry && { at: end.id, ttl: entry.ttl, because: 'read while it is still held; not written again', end };
  };
  switch (end.id) {
    case 'system':
      return mark(layout.system, 'tools and system prompt outlive every change of the conversation');
    case baseId:
      return mark(layout.base, 'what the window started with: stays while the tail moves on');
    case tailId:
      return mark(layout.tail, 'the newest message: the next request reads up to here');
    case heldId:
      return mark(layout.tail, 'still held: read up to here');
    case spareId:
      return mark(layout.tail, 'what is left to read when the newest message changes');
    default:
      return undefined;
  }
}
