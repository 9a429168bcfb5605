import type { ModelPrice } from '@cinnabar/sdk';
import { type CacheState, TTL_MS, type Ttl } from './cache-state.js';
import type { Layout } from './cache-strategy.js';

/** Sizes in tokens. */
interface Sizes {
  /** Tools and system prompt. */
  readonly system: number;
  /** The window directly after a cut. */
  readonly kept: number;
  /** A message on average. */
  readonly message: number;
}

/** A window that is held now, or was just written. */
interface Start {
  /** Tokens of the whole prompt. */
  readonly total: number;
  /** Number of messages by which it may grow. */
  readonly room: number;
  /** Time to live of the written part until the next activation; later ones use that of the layout's tail. `undefined`: not written. */
  readonly held: Ttl | undefined;
  /** Tokens of the prefix that are held for an hour, even if the tail is lost. */
  readonly lasting: number;
}

/** The activations from a start until the window is cut back, because the provider no longer holds it or because it has reached its limit. */
export interface Cycle {
  /** Their total cost, relative to the price of a fresh input token; without the first one, and without the one that cuts the window back. */
  readonly cost: number;
  /** Their expected number. */
  readonly activations: number;
  /** The probability that the provider drops the window before it has reached its limit. */
  readonly lost: number;
}

/** What determines the costs in a channel, if its activity continues as before. */
export interface Forecast {
  readonly rhythm: ActivationIntervals;
  readonly sizes: Sizes;
  readonly prices: Multipliers;
}

/** A longer cycle is simulated in steps of several activations. */
const MOST_STRIDES = 64;
/** Below this probability, a cycle is not simulated further. */
const NEGLIGIBLE = 0.001;

/** The expected cycle of a layout from a start. */
export function cycleOf({ tail }: Layout, start: Start, { rhythm, sizes, prices }: Forecast): Cycle {
  const step = Math.max(
    0.01,
    average(rhythm, ({ messages }) => messages),
  );
  const steps = Math.floor(start.room / step);
  const stride = Math.max(1, Math.ceil(steps / MOST_STRIDES));
  const write = writePrice(tail, prices);
  const cycle = { cost: 0, activations: 0 };
  let { total, held } = start;
  let alive = 1;
  for (let taken = 0; taken < steps && alive > NEGLIGIBLE; ) {
    // The first activation is computed separately, because the current entries may have another time to live than later ones.
    const many = taken === 0 ? 1 : Math.min(stride, steps - taken);
    const sent = total + ((many + 1) / 2) * step * sizes.message;
    let survival = 0;
    let cost = 0;
    for (const { ms, messages, weight } of rhythm) {
      const whole = isHeld(held, ms);
      if (!whole && !(start.lasting > sizes.system && isHeld('1h', ms))) continue;
      const read = whole ? Math.max(sizes.system, sent - messages * sizes.message) : Math.min(start.lasting, sent);
      survival += weight;
      cost += weight * (prices.read * read + write * (sent - read));
    }
    for (let repeated = 0; repeated < many; repeated++) {
      cycle.cost += alive * cost;
      alive *= survival;
      cycle.activations += alive;
    }
    total += many * step * sizes.message;
    taken += many;
    held = tail;
  }
  return { ...cycle, lost: 1 - alive * (1 - lossOf(held, rhythm)) };
}

/** The probability that an entry of this time to live has expired at the next activation. */
export function lossOf(ttl: Ttl | undefined, rhythm: ActivationIntervals): number {
  return average(rhythm, ({ ms }) => (isHeld(ttl, ms) ? 0 : 1));
}

/**
 * The cost of the activation at which a new window begins.
 * @param before the previous layout: its entry for the system prompt may still be held
 * @param kept tokens of the window
 */
export function restartCost(
  { base, system }: Layout,
  before: Layout,
  because: 'lost' | 'full',
  { rhythm, sizes, prices }: Forecast,
  kept = sizes.kept,
): number {
  const held = because === 'full' ? 1 : systemAfterLoss(before, rhythm);
  const first = prices.read * held + writePrice(system ?? base, prices) * (1 - held);
  return first * sizes.system + writePrice(base, prices) * kept;
}

/** The probability that the system prompt is still held when the conversation is lost. */
function systemAfterLoss({ tail, base, system }: Layout, rhythm: ActivationIntervals): number {
  const conversation = tail === '1h' || base === '1h' ? '1h' : (tail ?? base);
  const lost = lossOf(conversation, rhythm);
  return lost === 0 ? 0 : Math.max(0, lost - lossOf(system, rhythm)) / lost;
}

export function writePrice(ttl: Ttl | undefined, prices: Multipliers): number {
  return ttl === undefined ? 1 : prices.write[ttl];
}

function isHeld(ttl: Ttl | undefined, ms: number): boolean {
  return ttl !== undefined && ms < TTL_MS[ttl];
}

function average(rhythm: ActivationIntervals, of: (gap: Gap) => number): number {
  let sum = 0;
  for (const gap of rhythm) sum += gap.weight * of(gap);
  return sum;
}

/** Prices of prompt tokens, relative to a fresh one. */
interface Multipliers {
  readonly read: number;
  readonly write: Readonly<Record<Ttl, number>>;
}

/** Anthropic's multipliers, for models without a known price. */
const USUAL: Multipliers = { read: 0.1, write: { '5m': 1.25, '1h': 2 } };

export function multipliersOf(price: ModelPrice | undefined): Multipliers {
  if (price === undefined || price.input === 0) return USUAL;
  const { input, cacheRead, cacheWrite5m, cacheWrite1h } = price;
  return { read: cacheRead / input, write: { '5m': cacheWrite5m / input, '1h': cacheWrite1h / input } };
}

/** A possible gap between two activations. */
interface Gap {
  readonly ms: number;
  readonly messages: number;
  /** Its weight; all weights of a pattern sum up to 1. */
  readonly weight: number;
}
/** The distribution of the next gap between activations in a channel. */
type ActivationIntervals = readonly Gap[];

const LIFETIMES = [
  [0, TTL_MS['5m']],
  [TTL_MS['5m'], TTL_MS['1h']],
  [TTL_MS['1h'], Number.POSITIVE_INFINITY],
] as const;
/** Width of the kernel, in logarithms of gaps. */
const SPREAD = 0.25;
/** Factor of a gap's weight for each later gap, because a channel behaves differently by day and night. */
const FADING = 0.9;

/** The prior distribution: a conversation with pauses. Together these gaps count as one before all observed ones. */
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
 * Combines gaps by time to live, because it only matters which entries are still held after a gap. An observed gap also stands for similar ones: after several
 * of four minutes, one of six is not improbable (a kernel density estimate over the logarithms).
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

/** The probability that a gap like one of `ms` is below the limit, by the logistic distribution, whose tails are heavier than the normal's. */
function probabilityBelow(limitMs: number, ms: number): number {
  if (limitMs === 0) return 0;
  return 1 / (1 + (Math.max(1, ms) / limitMs) ** (1 / SPREAD));
}

/** The median of the observed gaps, in ms; `undefined` before the second activation. */
export function typicalGapMs(gapsMs: readonly number[]): number | undefined {
  return [...gapsMs].sort((a, b) => a - b)[gapsMs.length >> 1];
}
