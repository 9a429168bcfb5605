import type { ChannelMemory } from '../memory.js';

/** A gap between two activations that is thought possible. */
export interface Gap {
  readonly ms: number;
  readonly messages: number;
  /** How much it counts; all weights of a rhythm sum up to 1. */
  readonly weight: number;
}
/** How a channel calls on the bot: what the next gap may be like. */
export type Rhythm = readonly Gap[];

/** Before a channel has shown its own: a conversation with pauses. Together they count as one gap that was seen. */
const ASSUMED_MS = [20_000, 60_000, 180_000, 20 * 60_000];
const ASSUMED_MESSAGES = 3;

export function rhythmOf({ gapsMs, gapsMessages }: Pick<ChannelMemory, 'gapsMs' | 'gapsMessages'>): Rhythm {
  const seen = gapsMs.length;
  const messages = seen === 0 ? ASSUMED_MESSAGES : gapsMessages.reduce((sum, count) => sum + count, 0) / seen;
  const assumed = ASSUMED_MS.map((ms) => ({ ms, messages, weight: 1 / ASSUMED_MS.length / (seen + 1) }));
  return [
    ...gapsMs.map((ms, index) => ({ ms, messages: gapsMessages[index] ?? messages, weight: 1 / (seen + 1) })),
    ...assumed,
  ];
}

/** The middle of the gaps seen, in ms; `undefined` before the second activation. */
export function typicalGapMs(gapsMs: readonly number[]): number | undefined {
  return [...gapsMs].sort((a, b) => a - b)[gapsMs.length >> 1];
}
