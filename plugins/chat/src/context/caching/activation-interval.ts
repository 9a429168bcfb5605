import { type CacheState, TTL_MS } from './cache-state.js';

/** A gap between two activations that is thought possible. */
export interface Gap {
  readonly ms: number;
  readonly messages: number;
  /** How much it counts; all weights of a rhythm sum up to 1. */
  readonly weight: number;
}
/** How a channel calls on the bot: what the next gap may be like. */
export type ActivationIntervals = readonly Gap[];

const LIFETIMES = [
  [0, TTL_MS['5m']],
  [TTL_MS['5m'], TTL_MS['1h']],
  [TTL_MS['1h'], Number.POSITIVE_INFINITY],
] as const;
/** Of the logarithms of gaps that are alike. */
const SPREAD = 0.25;
/** How much of its weight a gap keeps with each that follows: a channel's days differ from its nights. */
const FADING = 0.9;

/** Before a channel has shown its own: a conversation with pauses. Together they count as one gap before all that were seen. */
const ASSUMED_MS = [20_000, 60_000, 180_000, 20 * 60_000];
const ASSUMED_MESSAGES = 3;

export function activationIntervalsOf({
  gapsMs,
  gapsMessages,
}: Pick<CacheState, 'gapsMs' | 'gapsMessages'>): ActivationIntervals {
  const seen = gapsMs.length;
  const messages = seen === 0 ? ASSUMED_MESSAGES : gapsMessages.reduce((sum, count) => sum + count, 0) / seen;
  const weights = gapsMs.map((_, index) => FADING ** (seen - 1 - index));
  const prior = FADING ** seen;
  const all = weights.reduce((sum, weight) => sum + weight, prior);
  const assumed = ASSUMED_MS.map((ms) => ({ ms, messages, weight: prior / ASSUMED_MS.length / all }));
  return byLifetime([
    ...gapsMs.map((ms, index) => ({
      ms,
      messages: gapsMessages[index] ?? messages,
      weight: (weights[index] ?? 0) / all,
    })),
    ...assumed,
  ]);
}

/**
 * All that matters of a gap is what is still held after it, so there is one gap for each. A gap that was seen stands for those like it:
 * after several of four minutes, one of six is not improbable (a kernel density estimate over the logarithms).
 */
function byLifetime(gaps: readonly Gap[]): ActivationIntervals {
  return LIFETIMES.flatMap(([from, to]) => {
    let weight = 0;
    let messages = 0;
    for (const gap of gaps) {
      const share = gap.weight * (probabilityBelow(to, gap.ms) - probabilityBelow(from, gap.ms));
      weight += share;
      messages += share * gap.messages;
    }
    return weight < 1e-9 ? [] : [{ ms: from, messages: messages / weight, weight }];
  });
}

/** The probability that a gap like one of `ms` is below the limit: the logistic distribution, which has more extremes than the normal. */
function probabilityBelow(limitMs: number, ms: number): number {
  if (limitMs === 0) return 0;
  return 1 / (1 + (Math.max(1, ms) / limitMs) ** (1 / SPREAD));
}

/** The middle of the gaps seen, in ms; `undefined` before the second activation. */
export function typicalGapMs(gapsMs: readonly number[]): number | undefined {
  return [...gapsMs].sort((a, b) => a - b)[gapsMs.length >> 1];
}
