import { createHash } from 'node:crypto';
import type { ModelTool, ModelTraits } from '@cinnabar/sdk';
import type { Line } from '../reading/transcript.js';
import type { Breakpoint } from '../types.js';
import type { CacheEntry, Ttl } from './cache-state.js';
import type { Layout } from './cache-strategy.js';

/** Where prefixes may end in this request; the ids of messages that are in it. */
interface Places {
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

/** A place where a prefix may end. */
export interface PrefixEnd {
  /** A message id, or `system` for the end of what stands before all messages. */
  readonly id: string;
  readonly hash: string;
  /** Tokens of the whole prefix. */
  readonly tokens: number;
}

/** What stands before the messages, each part hashed. */
export interface Before {
  readonly model: string;
  readonly tools: string;
  readonly system: string;
}

export function hashBefore(model: string, tools: readonly ModelTool[], system: string): Before {
  return { model, tools: shortHash(JSON.stringify(tools)), system: shortHash(system) };
}

/** Hashes and sizes of the prefixes that end at these messages, and of the one before all messages, in their order. */
export function prefixEnds(
  before: Before,
  beforeTokens: number,
  lines: readonly Line[],
  ids: ReadonlySet<string>,
): readonly [PrefixEnd, ...PrefixEnd[]] {
  const hash = createHash('sha256').update(`${before.model}\u0001${before.tools}\u0001${before.system}`);
  let tokens = beforeTokens;
  let unhashed = '';
  const ends: [PrefixEnd, ...PrefixEnd[]] = [{ id: 'system', hash: digest(hash), tokens }];
  for (const { message, own, signature, tokens: size } of lines) {
    unhashed += `\u0001${signature}`;
    tokens += size;
    // What the bot says next may be merged with its last words: a prefix ends with somebody else's.
    if (message.messageId === undefined || own || !ids.has(message.messageId)) continue;
    hash.update(unhashed);
    unhashed = '';
    ends.push({ id: message.messageId, hash: digest(hash), tokens });
  }
  return ends;
}

function digest(hash: ReturnType<typeof createHash>): string {
  return hash.copy().digest('base64url').slice(0, 22);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
