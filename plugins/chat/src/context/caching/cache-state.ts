import { createHash } from 'node:crypto';
import { type ModelTool, type ModelTraits, t, type Usage, z } from '@cinnabar/sdk';
import type { HistoryMessage } from '../../history/types.js';
import type { Line } from '../transcript.js';
import type { Breakpoint, ContextFacts } from '../types.js';
import type { Layout } from './cache-strategy.js';

export const TTL_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;
export type Ttl = keyof typeof TTL_MS;

const MAX_GAPS = 16;
const MAX_ENTRIES = 16;

const entry = z.object({
  /** The last message of the prefix; `system` for the part before all messages. */
  upToId: z.string(),
  /** Hash of the whole prefix, for detecting changes. */
  hash: z.string(),
  tokens: z.number(),
  /** Hash of the part before the messages. Members with other rights get other tools, and therefore separate entries. */
  variant: z.string(),
  ttl: z.enum(['5m', '1h']),
  expiresAt: z.number(),
});
/** A prefix that the provider should still hold. */
export type CacheEntry = Readonly<z.output<typeof entry>>;

/** The state of a channel between activations, stored as a document so that it survives a restart. */
export const cacheStateSchema = z.object({
  /** The first message of the window; changes only when the window rolls. */
  anchorId: z.string().optional(),
  /** The newest message when the window last rolled: the prefix up to it stays when the tail moves. */
  baseId: z.string().optional(),
  /** Last message of the previous request: the place of its tail breakpoint. */
  previousTailId: z.string().optional(),
  lastActivationAt: z.number().optional(),
  /** Recent gaps between activations, in ms and in messages, newest last. */
  gapsMs: z.array(z.number()).default([]),
  gapsMessages: z.array(z.number()).default([]),
  cached: z.array(entry).default([]),
  /** Hashes of the parts before the messages, for explaining a cache miss. */
  before: z.object({ model: z.string(), tools: z.string(), system: z.string() }).optional(),
  /** The name of each speaker; unchanged as long as the provider holds text with that name. */
  names: z.record(z.string(), z.string()).default({}),
  /** Keys of the shown images. */
  images: z.array(z.string()).default([]),
  /** Keys of the text files whose text is shown. */
  textFiles: z.array(z.string()).default([]),
});
export type CacheState = Readonly<z.output<typeof cacheStateSchema>>;

/** The state of a channel without activations. */
export const EMPTY_CACHE_STATE: CacheState = cacheStateSchema.parse({});

export function lastGaps(gaps: readonly number[], newest: number): number[] {
  return [...gaps, newest].slice(-MAX_GAPS);
}

/**
 * The entries that can be read again after a request with these prefixes. A prefix of the same variant that is not in the request cannot. A prefix that was
 * written or read starts a new time to live; others keep theirs.
 */
export function afterRequest(
  before: readonly CacheEntry[],
  request: { readonly variant: string; readonly hashes: ReadonlySet<string> },
  written: readonly Omit<CacheEntry, 'expiresAt' | 'variant'>[],
  now: number,
): CacheEntry[] {
  const { variant, hashes } = request;
  const alive = before.filter((entry) => isAlive(entry, now) && (hashes.has(entry.hash) || entry.variant !== variant));
  const held = written.map((prefix) => {
    const ttl = alive.find(({ hash }) => hash === prefix.hash)?.ttl ?? prefix.ttl;
    return { ...prefix, variant, ttl, expiresAt: now + TTL_MS[ttl] };
  });
  const renewed = new Set(held.map(({ hash }) => hash));
  return [...alive.filter(({ hash }) => !renewed.has(hash)), ...held].slice(-MAX_ENTRIES);
}

export function isAlive({ expiresAt }: CacheEntry, now: number): boolean {
  return expiresAt > now;
}

/** Whether the provider holds a part of the conversation, for any set of tools. */
export function isConversationHeld({ cached }: CacheState, now: number): boolean {
  return cached.some((entry) => entry.upToId !== 'system' && isAlive(entry, now));
}

interface Comparison {
  readonly memory: CacheState;
  readonly before: Before;
  readonly variant: string;
  readonly ends: readonly PrefixEnd[];
  readonly window: readonly HistoryMessage[];
  readonly now: number;
  /** Whether the window was cut back while the provider held it. */
  readonly rolled: boolean;
}

/** The longest prefix of this request that the provider still holds. */
export function heldPrefix(
  ends: readonly PrefixEnd[],
  cached: readonly CacheEntry[],
  now: number,
): PrefixEnd | undefined {
  return ends.findLast(({ hash }) => cached.some((entry) => entry.hash === hash && isAlive(entry, now)));
}

/** Why the longest written prefix will not be read; `undefined` if it will be, or none was written. */
export function causeOfMiss({ memory, before, variant, ends, window, now, rolled }: Comparison): string | undefined {
  const written = memory.cached.filter(({ upToId }) => upToId !== 'system');
  const newest = written.findLast((entry) => entry.variant === variant);
  if (newest === undefined) return written.length === 0 ? undefined : otherBeginning(memory, before);
  const unchanged = ends.some(({ hash }) => hash === newest.hash);
  if (unchanged && newest.expiresAt <= now)
    return t('the entry expired {time} ago', { time: ago(now - newest.expiresAt) });
  if (rolled) return t('the window rolled');
  if (unchanged) return undefined;
  return changeIn(window, newest, memory.lastActivationAt ?? 0);
}

function otherBeginning(memory: CacheState, before: Before): string | undefined {
  if (memory.before?.model !== before.model) return t('another model or mode is used now');
  if (memory.before.tools !== before.tools) return t('the tools changed, or this member may use others');
  return memory.before.system === before.system ? undefined : t('the system prompt changed');
}

function changeIn(window: readonly HistoryMessage[], { upToId }: CacheEntry, since: number): string {
  const end = window.findIndex(({ id }) => id === upToId);
  if (end < 0) return t('a message before the breakpoint was deleted or hidden');
  const edited = window.slice(0, end + 1).some(({ editedAt }) => editedAt !== null && editedAt > since);
  return edited
    ? t('a message before the breakpoint was edited')
    : t(
        'something before the breakpoint changed: a message was deleted, hidden or shown again, or a tool has its result now',
      );
}

/** Why less was read from the cache than expected, according to the usage of the answer; `undefined` if nothing is wrong. */
export function missAfter(facts: ContextFacts, usage: Usage): string | undefined {
  if (facts.expectedMiss !== undefined) return facts.expectedMiss;
  if (facts.expectedReadTokens === 0 || (usage.cacheReadTokens ?? 0) > 0) return undefined;
  return t('the provider no longer held an entry that should still have been there');
}

function ago(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** The cache state of each channel, stored so that a restart loses no cache. */
export const memories = {
  scope: 'channel',
  version: 1,
  schema: cacheStateSchema,
  personal: {
    by: ({ names }: CacheState) => Object.keys(names),
    export: ({ names }: CacheState, userId: string) => names[userId],
    forget: ({ names }: { readonly names: Record<string, string> }, userId: string) => delete names[userId],
  },
} as const;

/** The ends of prefixes in this request, as message ids. */
interface Places {
  readonly baseId: string | undefined;
  /** The longest prefix that the provider holds: usually the tail of the previous request. */
  readonly heldId: string | undefined;
  readonly tailId: string | undefined;
  /** The message before the tail. */
  readonly spareId: string | undefined;
}

export interface LaidBreakpoint extends Breakpoint {
  readonly end: PrefixEnd;
}

/**
 * The breakpoints for a request, in order: tools and system prompt, base, held prefix, tail. A prefix that the layout does not write is still marked while the
 * provider holds it, so that it is read. Prefixes below the model's minimum are not marked, and none of five minutes comes before one of an hour. If the tail
 * would be the only mark on a message, the message before it gets one, too, at no cost, because people edit their latest message more than others.
 * @param ends in the order of their places in the request
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

/** Whether a prefix reaches the provider's minimum with a margin. Sizes are estimates, and the provider ignores a smaller prefix without an error. */
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
  /** A message id, or `system` for the end of the part before all messages. */
  readonly id: string;
  readonly hash: string;
  /** Tokens of the whole prefix. */
  readonly tokens: number;
}

/** Hashes of the parts before the messages. */
export interface Before {
  readonly model: string;
  readonly tools: string;
  readonly system: string;
}

export function hashBefore(model: string, tools: readonly ModelTool[], system: string): Before {
  return { model, tools: shortHash(JSON.stringify(tools)), system: shortHash(system) };
}

/** Hashes and sizes of the prefixes that end at these messages, and of the one before all messages, in order. */
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
    // A prefix ends with a message of another author, because the bot's next message may be merged with its previous one.
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
