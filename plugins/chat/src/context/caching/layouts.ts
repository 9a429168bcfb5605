import type { ModelTraits } from '@cinnabar/sdk';
import type { Ttl } from '../memory.js';
import type { ContextConfig } from '../types.js';

/** One way to use the cache. */
export interface Layout {
  /** How long the prefix up to the newest message is kept; `undefined`: it is not written. */
  readonly tail: Ttl | undefined;
  /** How long the prefix is kept with which a window begins. */
  readonly base: Ttl | undefined;
  /** How long tools and system prompt are kept. At least as long as the base. */
  readonly system: Ttl | undefined;
  /** By how many messages the window may grow before it is cut back. */
  readonly growth: number;
}

/** Shares of the most that the window may grow by. */
const GROWTHS = [1, 7 / 8, 3 / 4, 5 / 8, 1 / 2, 3 / 8, 1 / 4, 1 / 8];

type LayoutConfig = Pick<ContextConfig, 'cache' | 'recencyWindow' | 'rollingThreshold'>;

/** Every layout that the model and the configuration allow. */
export function layoutsFor(cache: ModelTraits['cache'], config: LayoutConfig): readonly [Layout, ...Layout[]] {
  const most = mostGrowth(config);
  const growths = [...new Set(GROWTHS.map((share) => Math.max(1, Math.floor(share * most))))];
  const off: Layout = { tail: undefined, base: undefined, system: undefined, growth: most };
  if (cache.kind === 'none' || config.cache === 'off') return [off];
  // The provider caches by itself, for some minutes.
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

/** By how many messages the window may exceed `recencyWindow`: what is set, or as much again. */
export function mostGrowth({ recencyWindow, rollingThreshold = recencyWindow }: LayoutConfig): number {
  return rollingThreshold;
}

/** Providers refuse an entry of an hour behind one of five minutes. */
function atLeast(ttl: Ttl, ttls: readonly Ttl[]): readonly Ttl[] {
  return ttls.filter((other) => ttl === '5m' || other === '1h');
}
