import { compareIds } from '@cinnabar/sdk';
import { type Before, hashBefore, type PrefixEnd, prefixEnds } from './caching/breakpoints.js';
import { type CacheState, heldPrefix, lastGaps } from './caching/cache-state.js';
import { type Layout, planWindow } from './caching/cache-strategy.js';
import { modeInForce } from './mode.js';
import { countMessages, type Line } from './reading/transcript.js';
import type { Draft, Scene } from './scene.js';
import type { ContextInput } from './types.js';
import { estimateText, estimateTools, type TokenLimits, tokenLimits } from './window.js';

/** What surrounds the messages. */
export interface Frame {
  readonly mode: 'chat' | 'prefill';
  readonly before: Before;
  /** Tokens of tools and system prompt. */
  readonly tokens: number;
  readonly limits: TokenLimits;
}

export type Gaps = Pick<CacheState, 'gapsMs' | 'gapsMessages'>;

/** A draft, and how it stands to what the provider holds. */
export interface Shape {
  readonly draft: Draft;
  readonly layout: Layout;
  /** Whether the window is to be cut back now. */
  readonly roll: boolean;
  /** Where a prefix may end: before all messages, at messages where one ended before, at the newest. */
  readonly ends: readonly PrefixEnd[];
  /** What stands before the messages, hashed. */
  readonly variant: string;
  /** The longest prefix that the provider still holds. */
  readonly held: PrefixEnd | undefined;
  /** The newest message of somebody else. */
  readonly tailId: string | undefined;
  /** The one before it. */
  readonly spareId: string | undefined;
}

/** Whether the window of the previous request can be gone on with. */
export type Past =
  | { readonly kind: 'fits'; readonly shape: Shape }
  /** Nobody holds it any more. */
  | { readonly kind: 'cold'; readonly shape: Shape }
  | { readonly kind: 'too long'; readonly shape: Shape }
  | { readonly kind: 'attachments'; readonly what: string }
  | { readonly kind: 'none' };

export function frameOf({ system, tools, config, traits, question }: ContextInput): Frame {
  const offered = config.toolsEnabled ? tools : [];
  const mode = modeInForce(config, traits);
  const { most, target } = tokenLimits(config, traits);
  const asked =
    question === undefined ? 0 : 2 * estimateText(question.speaker.displayName) + estimateText(question.text);
  return {
    mode,
    before: hashBefore(`${traits.provider}/${traits.model}/${mode}`, offered, system),
    tokens: estimateText(system) + estimateTools(offered),
    limits: { most: most - asked, target: Math.min(target, most - asked) },
  };
}

/** The gap since the last activation, added to those before. */
export function observeGap({ input: { memory, now }, entries }: Scene): Gaps {
  const { lastActivationAt, previousTailId, gapsMs, gapsMessages } = memory;
  if (lastActivationAt === undefined || previousTailId === undefined) return { gapsMs, gapsMessages };
  const messages = countMessages(entries.filter(({ lastId }) => compareIds(lastId, previousTailId) > 0));
  return {
    gapsMs: lastGaps(gapsMs, Math.max(0, now - lastActivationAt)),
    gapsMessages: lastGaps(gapsMessages, messages),
  };
}

export function shapeOf({ input }: Scene, frame: Frame, gaps: Gaps, draft: Draft): Shape {
  const { memory, now } = input;
  const [spareId, tailId] = lastHeard(draft.lines);
  const places = [tailId, spareId, memory.previousTailId, memory.baseId, ...memory.cached.map(({ upToId }) => upToId)];
  const ids = new Set(places.filter((id) => id !== undefined));
  const ends = prefixEnds(frame.before, frame.tokens, draft.lines, ids);
  const held = heldPrefix(ends, memory.cached, now);
  const window = {
    messages: countMessages(draft.entries),
    tokens: tokensOf(draft.lines),
    systemTokens: frame.tokens,
    readable: held?.tokens ?? 0,
    lasting:
      heldPrefix(
        ends,
        memory.cached.filter(({ ttl }) => ttl === '1h'),
        now,
      )?.tokens ?? 0,
  };
  return {
    draft,
    ends,
    held,
    variant: ends[0].hash,
    tailId,
    spareId,
    ...planWindow(input, gaps, window, frame.limits),
  };
}

/** Ids of the last two messages of others. */
function lastHeard(lines: readonly Line[]): readonly [string | undefined, string | undefined] {
  const isHeard = ({ own, message }: Line) => !own && message.messageId !== undefined;
  const last = lines.findLastIndex(isHeard);
  const before = lines.slice(0, Math.max(0, last)).findLast(isHeard);
  return [before?.message.messageId, lines[last]?.message.messageId];
}

export function tokensOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { tokens }) => sum + tokens, 0);
}

/**
 * Texts at which the model stops. In prefill mode it writes on in a script, so every participant's name with a colon is one: it must
 * not speak for others.
 */
export function stopSequences(
  lines: readonly Line[],
  self: string,
  mode: 'chat' | 'prefill',
  configured: readonly string[],
): readonly string[] {
  const names =
    mode === 'prefill'
      ? [...lines.map(({ message }) => message.participant).filter((name) => name !== self), self]
      : [];
  return [...new Set([...names.map((name) => `${name}:`), ...configured])];
}
