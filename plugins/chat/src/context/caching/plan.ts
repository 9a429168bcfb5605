import type { ChannelMemory } from '../memory.js';
import type { TokenLimits } from '../rolling.js';
import type { ContextInput } from '../types.js';
import { choosePlan, type Plan } from './choose.js';
import { type Layout, layoutsFor, mostGrowth } from './layouts.js';
import { multipliersOf } from './prices.js';
import { rhythmOf, typicalGapMs } from './rhythm.js';

export interface WindowSize {
  readonly messages: number;
  readonly tokens: number;
  /** Tools and system prompt. */
  readonly systemTokens: number;
  /** Tokens of prefix, from the very beginning, that can be read now. */
  readonly readable: number;
  /** Of these, what is held for an hour. */
  readonly lasting: number;
}

/** What to do with a window of this size, in a channel of this rhythm. */
export function planWindow(
  { config, traits }: Pick<ContextInput, 'config' | 'traits'>,
  memory: Pick<ChannelMemory, 'gapsMs' | 'gapsMessages'>,
  { messages, tokens, systemTokens, readable, lasting }: WindowSize,
  limits: TokenLimits,
): Plan {
  const { recencyWindow } = config;
  const message = Math.max(1, tokens / Math.max(1, messages));
  const kept = Math.min(message * recencyWindow, Math.max(message, limits.target - systemTokens));
  const roomFor = (total: number) => (limits.most - total) / message;
  const grown = messages - recencyWindow;
  const total = systemTokens + tokens;
  return choosePlan(
    layoutsFor(traits.cache, config),
    {
      total,
      readable,
      lasting,
      grown,
      room: Math.min(mostGrowth(config) - grown, roomFor(total)),
      roomAfterCut: roomFor(systemTokens + kept),
    },
    {
      rhythm: rhythmOf(memory),
      sizes: { system: systemTokens, kept, message },
      prices: multipliersOf(traits.price),
    },
  );
}

/** The layout in words. */
export function describeLayout({ tail, base, growth }: Layout, { gapsMs }: Pick<ChannelMemory, 'gapsMs'>): string {
  const typical = typicalGapMs(gapsMs);
  const rhythm = typical === undefined ? 'not asked before' : `asked about every ${duration(typical)}`;
  if (tail === undefined) return `${rhythm}: the conversation is not written to the cache`;
  const kept = base === '1h' && tail === '5m' ? `${inWords[tail]}, its beginning for an hour` : inWords[tail];
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
