import { TTL_MS, type Ttl } from '../memory.js';
import type { Layout } from './layouts.js';
import type { Multipliers } from './prices.js';
import type { Gap, Rhythm } from './rhythm.js';

/** Sizes in tokens. */
export interface Sizes {
  /** Tools and system prompt. */
  readonly system: number;
  /** The window right after it has rolled. */
  readonly kept: number;
  /** One message. */
  readonly message: number;
  /** How far the window can grow before a limit other than the layout's cuts it. */
  readonly room: number;
  /** Whether the window shows all there is: then it does not roll for a long time. */
  readonly filling: boolean;
}

/**
 * What an activation costs on average if the channel goes on like this, in tokens' worth of fresh input. After a gap the tail is still
 * held and read; or only the base is; or all is written anew, and the window is cut back since that costs nothing then. And at times it
 * rolls because it has grown to its limit.
 */
export function expectedCost(layout: Layout, rhythm: Rhythm, sizes: Sizes, prices: Multipliers): number {
  const { system, kept, message, filling } = sizes;
  const lost = average(rhythm, ({ ms }) => (isHeld(layout.tail, ms) || isHeld(layout.base, ms) ? 0 : 1));
  const step = average(rhythm, ({ messages }) => messages);
  const growth = Math.max(1, Math.min(layout.growth, sizes.room / message));
  const grownTo = filling ? 0 : Math.min(growth, lost > 0 ? step / lost : growth);
  const grown = (grownTo / 2) * message;
  const rolls = filling ? 0 : Math.max(0, step / growth - lost);
  const write = (ttl: Ttl | undefined) => (ttl === undefined ? 1 : prices.write[ttl]);
  const whole = write(layout.base) * kept;

  const usual = average(rhythm, ({ ms, messages }) => {
    const fresh = Math.min(messages * message, kept + grown);
    if (isHeld(layout.tail, ms)) {
      return prices.read * (system + kept + grown - fresh) + write(layout.tail) * fresh;
    }
    if (isHeld(layout.base, ms)) return prices.read * (system + kept) + write(layout.tail) * grown;
    return (isHeld(layout.system, ms) ? prices.read : write(layout.system)) * system + whole;
  });
  return usual + rolls * Math.max(0, whole - prices.read * kept);
}

function average(rhythm: Rhythm, of: (gap: Gap) => number): number {
  let sum = 0;
  for (const gap of rhythm) sum += gap.weight * of(gap);
  return sum;
}

function isHeld(ttl: Ttl | undefined, ms: number): boolean {
  return ttl !== undefined && ms < TTL_MS[ttl];
}
