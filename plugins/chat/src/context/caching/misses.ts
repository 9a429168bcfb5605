import type { Usage } from '@cinnabar/sdk';
import type { HistoryMessage } from '../../history/types.js';
import { type CacheEntry, type ChannelMemory, isAlive } from '../memory.js';
import type { ContextFacts } from '../types.js';
import type { Before, PrefixEnd } from './prefixes.js';

export interface Comparison {
  readonly memory: ChannelMemory;
  readonly before: Before;
  readonly variant: string;
  readonly ends: readonly PrefixEnd[];
  readonly window: readonly HistoryMessage[];
  readonly now: number;
  /** Whether the window was cut back although it is held. */
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

/** Why the longest prefix that was written will not be read; `undefined` when it will be, or none was. */
export function causeOfMiss({ memory, before, variant, ends, window, now, rolled }: Comparison): string | undefined {
  const written = memory.cached.filter(({ upToId }) => upToId !== 'system');
  const newest = written.findLast((entry) => entry.variant === variant);
  if (newest === undefined) return written.length === 0 ? undefined : otherBeginning(memory, before);
  const unchanged = ends.some(({ hash }) => hash === newest.hash);
  if (unchanged && newest.expiresAt <= now) return `the entry expired ${ago(now - newest.expiresAt)} ago`;
  if (rolled) return 'the window rolled';
  if (unchanged) return undefined;
  return changeIn(window, newest, memory.lastActivationAt ?? 0);
}

function otherBeginning(memory: ChannelMemory, before: Before): string | undefined {
  if (memory.before?.model !== before.model) return 'another model or mode is used now';
  if (memory.before.tools !== before.tools) return 'the tools changed, or this member may use others';
  return memory.before.system === before.system ? undefined : 'the system prompt changed';
}

function changeIn(window: readonly HistoryMessage[], { upToId }: CacheEntry, since: number): string {
  const end = window.findIndex(({ id }) => id === upToId);
  if (end < 0) return 'a message before the breakpoint was deleted or hidden';
  const edited = window.slice(0, end + 1).some(({ editedAt }) => editedAt !== null && editedAt > since);
  return edited
    ? 'a message before the breakpoint was edited'
    : 'something before the breakpoint changed: a message was deleted, hidden or shown again, or a tool has its result now';
}

/** After the answer: why less was read than was expected; `undefined` when nothing is amiss. */
export function missAfter(facts: ContextFacts, usage: Usage): string | undefined {
  if (facts.expectedMiss !== undefined) return facts.expectedMiss;
  if (facts.expectedReadTokens === 0 || (usage.cacheReadTokens ?? 0) > 0) return undefined;
  return 'the provider no longer held an entry that should still have been there';
}

function ago(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
