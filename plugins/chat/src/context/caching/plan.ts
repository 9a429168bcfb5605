import type { ChannelMemory } from '../memory.js';
import type { TokenLimits } from '../rolling.js';
import type { ContextInput } from '../types.js';
import { chooseLayout } from './choose.js';
import type { Sizes } from './expected-cost.js';
import { type Layout, layoutsFor } from './layouts.js';
import { multipliersOf } from './prices.js';
import { rhythmOf, typicalGapMs } from './rhythm.js';

export interface WindowSize {
  readonly messages: number;
  readonly tokens: number;
  /** Tools and system prompt. */
  readonly systemTokens: number;
  /** Tokens of prefix, from the very beginning, that can be read now. */
  readonly readable: number;
}

/** The layout for a window of this size, in a channel of this rhythm. */
export function planLayout(
  { config, traits }: Pick<ContextInput, 'config' | 'traits'>,
  memory: Pick<ChannelMemory, 'gapsMs' | 'gapsMessages'>,
  window: WindowSize,
  limits: TokenLimits,
): Layout {
  return chooseLayout(layoutsFor(traits.cache, config), {
    rhythm: rhythmOf(memory),
    sizes: sizesOf(window, config.recencyWindow, limits),
    prices: multipliersOf(traits.price),
    readable: window.readable,
  });
}

function sizesOf({ messages, tokens, systemTokens }: WindowSize, recencyWindow: number, limits: TokenLimits): Sizes {
  const message = Math.max(1, tokens / Math.max(1, messages));
  const kept = Math.min(message * Math.min(messages, recencyWindow), Math.max(message, limits.target - systemTokens));
  return {
    system: systemTokens,
    kept,
    message,
    room: Math.max(message, limits.most - systemTokens - kept),
    filling: messages < recencyWindow && tokens + systemTokens < limits.target,
  };
}

/** The layout in words. */
export function describeLayout({ tail, base, growth }: Layout, { gapsMs }: Pick<ChannelMemory, 'gapsMs'>): string {
  const typical = typicalGapMs(gapsMs);
  const rhythm = typical === undefined ? 'not asked before' : `asked about every ${duration(typical)}`;
  if (tail === undefined) return `${rhythm}: the conversation is not written to the cache`;
  const kept = base === tail ? inWords[tail] : `${inWords[tail]}, its beginning for an hour`;
  return `${rhythm}: kept for ${kept}; cut back after ${growth} more messages`;
}

/** How large the window may become, and who says so. */
export function describeWindow({
  recencyWindow,
  rollingThreshold,
}: Pick<ContextInput['config'], 'recencyWindow' | 'rollingThreshold'>): string {
  return rollingThreshold === undefined
    ? `at most ${2 * recencyWindow} messages; cut back where that is cheapest, since rollingThreshold is not set`
    : `at most ${recencyWindow + rollingThreshold} messages, by rollingThreshold`;
}

const inWords = { '5m': '5 minutes', '1h': 'an hour' } as const;

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
