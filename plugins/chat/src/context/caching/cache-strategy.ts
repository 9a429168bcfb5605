import { type ModelTraits, t } from '@cinnabar/sdk';
import type { BotConfig } from '../../config/keys.js';
import type { ContextInput } from '../types.js';
import type { TokenLimits } from '../window.js';
import type { CacheState, Ttl } from './cache-state.js';
import {
  activationIntervalsOf,
  type Cycle,
  cycleOf,
  type Forecast,
  lossOf,
  multipliersOf,
  restartCost,
  typicalGapMs,
  writePrice,
} from './cost-forecast.js';

interface WindowSize {
  readonly messages: number;
  readonly tokens: number;
  /** Tokens of tools and system prompt. */
  readonly systemTokens: number;
  /** Tokens of the prefix that can be read now, from the beginning. */
  readonly readable: number;
  /** Of these, tokens that are held for an hour. */
  readonly lasting: number;
}

/** Plans how to continue or cut a window of this size in a channel with these gaps between activations. */
export function planWindow(
  { config, traits }: Pick<ContextInput, 'config' | 'traits'>,
  memory: Pick<CacheState, 'gapsMs' | 'gapsMessages'>,
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
      rhythm: activationIntervalsOf(memory),
      sizes: { system: systemTokens, kept, message },
      prices: multipliersOf(traits.price),
    },
  );
}

/** A sentence about the layout, for receipts. */
export function describeLayout({ tail, base, growth }: Layout, { gapsMs }: Pick<CacheState, 'gapsMs'>): string {
  const typical = typicalGapMs(gapsMs);
  const rhythm =
    typical === undefined ? t('not asked before') : t('asked about every {time}', { time: duration(typical) });
  if (tail === undefined) return t('{rhythm}: the conversation is not written to the cache', { rhythm });
  if (base === '1h' && tail === '5m') {
    return t('{rhythm}: kept for 5 minutes, its beginning for an hour; cut back after {growth} more messages', {
      rhythm,
      growth,
    });
  }
  return tail === '5m'
    ? t('{rhythm}: kept for 5 minutes; cut back after {growth} more messages', { rhythm, growth })
    : t('{rhythm}: kept for an hour; cut back after {growth} more messages', { rhythm, growth });
}

/** A sentence about the window's maximum size and the setting that limits it. */
export function describeWindow({
  recencyWindow,
  rollingThreshold,
}: Pick<ContextInput['config'], 'recencyWindow' | 'rollingThreshold'>): string {
  return rollingThreshold === undefined
    ? t('at most {most} messages; cut back where that is cheapest, since rollingThreshold is not set', {
        most: 2 * recencyWindow,
      })
    : t('at most {most} messages, by rollingThreshold', { most: recencyWindow + rollingThreshold });
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** The current window, and the part of it that the provider holds. Sizes in tokens unless stated otherwise. */
interface WindowState {
  /** Tokens of the whole prompt. */
  readonly total: number;
  /** Tokens at its beginning that can be read now. */
  readonly readable: number;
  /** Tokens at its beginning that are held for an hour. */
  readonly lasting: number;
  /** Number of messages beyond the size to which it is cut back; negative while it fills. */
  readonly grown: number;
  /** Number of messages by which it may grow before a limit other than the layout's; negative beyond that. */
  readonly room: number;
  /** The same for a window that has just been cut back. */
  readonly roomAfterCut: number;
}

interface Plan {
  readonly layout: Layout;
  /** Whether to cut the window back now: because that is cheaper than continuing, or because it is beyond its limit. */
  readonly roll: boolean;
}

/** The long-term cost of the best layout. */
interface Future {
  /** The cost of a mean activation. */
  readonly mean: number;
  readonly layout: Layout;
  /** The cost of a mean restart. */
  readonly restart: number;
}

/**
 * The cheapest way to continue, by the cost of this activation and of all later ones. A cycle lasts from one restart of the window to the next; the mean cost
 * of an activation is the cost of a cycle divided by its length (a renewal process). A plan's cost is what it pays until the window restarts, minus the mean
 * for each activation until then. So a write must be justified by the probable reads before the window is lost or cut back. Of equal plans the first is used.
 */
function choosePlan(layouts: readonly [Layout, ...Layout[]], standing: WindowState, forecast: Forecast): Plan {
  const future = futureOf(layouts, standing, forecast);
  const isHeld = standing.readable > forecast.sizes.system;
  const [first] = layouts;
  let best = { layout: first, roll: true, cost: Number.POSITIVE_INFINITY };
  const consider = (layout: Layout, roll: boolean, cost: number) => {
    if (cost < best.cost) best = { layout, roll, cost };
  };
  for (const layout of layouts) {
    const room = Math.min(standing.room, layout.growth - standing.grown);
    // If the provider does not hold the window for these tools, it may hold it for others', so it is not cut back to save costs.
    if (room >= 0 || (!isHeld && standing.room >= 0)) {
      consider(layout, false, costOfKeeping(layout, Math.max(0, room), standing, forecast, future));
    }
    if (isHeld && standing.grown > 0) consider(layout, true, costOfCut(layout, standing, forecast, future));
  }
  return { layout: best.layout, roll: best.roll };
}

function futureOf(layouts: readonly [Layout, ...Layout[]], { roomAfterCut }: WindowState, forecast: Forecast): Future {
  return layouts
    .map((layout) => {
      const cycle = cycleAfterCut(layout, roomAfterCut, forecast);
      const restart = average(cycle.lost, (because) => restartCost(layout, layout, because, forecast));
      return { layout, restart, mean: (restart + cycle.cost) / (1 + cycle.activations) };
    })
    .reduce((best, other) => (other.mean < best.mean ? other : best));
}

function cycleAfterCut(layout: Layout, roomAfterCut: number, forecast: Forecast): Cycle {
  const { system, kept } = forecast.sizes;
  const lasting = layout.base === '1h' ? system + kept : 0;
  const room = Math.min(layout.growth, roomAfterCut);
  return cycleOf(layout, { total: system + kept, room, held: layout.base, lasting }, forecast);
}

function costOfCut(layout: Layout, { roomAfterCut }: WindowState, forecast: Forecast, future: Future): number {
  const now = restartCost(layout, layout, 'full', forecast);
  return now + costAfter(cycleAfterCut(layout, roomAfterCut, forecast), layout, forecast, future);
}

function costOfKeeping(
  layout: Layout,
  room: number,
  standing: WindowState,
  forecast: Forecast,
  future: Future,
): number {
  const { total, readable, lasting } = standing;
  const { sizes, prices } = forecast;
  const { base, tail, system } = layout;
  if (readable <= sizes.system) {
    const before = readable > 0 ? prices.read : writePrice(system ?? base, prices);
    const now = before * sizes.system + writePrice(base, prices) * (total - sizes.system);
    const start = { total, room, held: base, lasting: base === '1h' ? total : 0 };
    return now + costAfter(cycleOf(layout, start, forecast), layout, forecast, future, total - sizes.system);
  }
  const now = prices.read * readable + writePrice(tail, prices) * (total - readable);
  if (tail === undefined) {
    // No write of the newest messages, because the next activation cuts the window back.
    const lost = lossOf(lasting > sizes.system ? '1h' : '5m', forecast.rhythm);
    return now + costAfter({ cost: 0, activations: 0, lost }, layout, forecast, future, total - sizes.system);
  }
  const start = { total, room, held: tail, lasting: tail === '1h' ? total : lasting };
  return now + costAfter(cycleOf(layout, start, forecast), layout, forecast, future, total - sizes.system);
}

/** The cost up to and including the next restart, minus that of as many mean activations. */
function costAfter(
  cycle: Cycle,
  layout: Layout,
  forecast: Forecast,
  { mean, restart, layout: next }: Future,
  shown = forecast.sizes.kept,
): number {
  const { kept } = forecast.sizes;
  // A window that is not full yet costs less when it is lost.
  const again = average(cycle.lost, (because) =>
    restartCost(next, layout, because, forecast, because === 'lost' ? Math.min(kept, shown) : kept),
  );
  return cycle.cost - mean * cycle.activations + again - restart;
}

function average(lost: number, of: (because: 'lost' | 'full') => number): number {
  return lost * of('lost') + (1 - lost) * of('full');
}

/** One way to use the cache. */
export interface Layout {
  /** How long the prefix up to the newest message is kept; `undefined`: it is not written. */
  readonly tail: Ttl | undefined;
  /** How long the prefix at the beginning of a window is kept. */
  readonly base: Ttl | undefined;
  /** How long tools and system prompt are kept: at least as long as the base. */
  readonly system: Ttl | undefined;
  /** Number of messages by which the window may grow before it is cut back. */
  readonly growth: number;
}

/** Fractions of the maximum growth of the window. */
const GROWTHS = [1, 7 / 8, 3 / 4, 5 / 8, 1 / 2, 3 / 8, 1 / 4, 1 / 8];

type LayoutConfig = Pick<BotConfig, 'cache' | 'recencyWindow' | 'rollingThreshold'>;

/** Every layout that the model and the configuration allow. */
function layoutsFor(cache: ModelTraits['cache'], config: LayoutConfig): readonly [Layout, ...Layout[]] {
  const most = mostGrowth(config);
  const growths = [...new Set(GROWTHS.map((share) => Math.max(1, Math.floor(share * most))))];
  const off: Layout = { tail: undefined, base: undefined, system: undefined, growth: most };
  if (cache.kind === 'none' || config.cache === 'off') return [off];
  // The provider caches every prefix by itself, for some minutes.
  const automatic = cache.kind === 'automatic';
  const allowed = cache.ttls.filter((ttl) => config.cache === 'auto' || ttl === config.cache);
  const ttls: readonly Ttl[] = automatic ? ['5m'] : allowed.length > 0 ? allowed : cache.ttls;
  const kept = growths.flatMap((growth) =>
    ttls.flatMap((tail) =>
      ttls.flatMap((base) => atLeast(base, ttls).map((system): Layout => ({ tail, base, system, growth }))),
    ),
  );
  const [first, ...others] = kept;
  if (first === undefined) return [off];
  if (automatic || config.cache !== 'auto') return [first, ...others];
  return [first, ...others, off, ...ttls.map((system) => ({ ...off, system }))];
}

/** Number of messages by which the window may exceed `recencyWindow`; by default as many again. */
export function mostGrowth({ recencyWindow, rollingThreshold = recencyWindow }: LayoutConfig): number {
  return rollingThreshold;
}

/** The times to live that are at least `ttl`. Providers refuse an entry of an hour after one of five minutes. */
function atLeast(ttl: Ttl, ttls: readonly Ttl[]): readonly Ttl[] {
  return ttls.filter((other) => ttl === '5m' || other === '1h');
}
