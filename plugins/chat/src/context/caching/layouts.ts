import type { ModelTraits } from '@cinnabar/sdk';
import type { Ttl } from '../memory.js';
import type { ContextConfig } from '../types.js';

/** One way to use the cache. */
export interface Layout {
  /** How long the prefix up to the newest message is kept; `undefined`: it is not written. */
  readonly tail: Ttl | undefined;
  /** How long the prefix is kept that ends where the window last rolled. At least as long as the tail. */
  readonly base: Ttl | undefined;
  /** How long tools and system prompt are kept. At least as long as the base. */
  readonly system: Ttl | undefined;
  /** How many messages the window may grow by before it is cut back. */
  readonly growth: number;
}

/** Shares of the window: growing beyond twice the window costs more in reading than it saves in writing. */
const AUTO_GROWTHS = [1 / 8, 1 / 4, 1 / 2, 1];
/** Shares of what is set, which is never exceeded. */
const SET_GROWTHS = [1, 1 / 2, 1 / 4];

type LayoutConfig = Pick<ContextConfig, 'cache' | 'recencyWindow' | 'rollingThreshold'>;

/** Every layout that the model and the configuration allow. */
export function layoutsFor(cache: ModelTraits['cache'], config: LayoutConfig): readonly Layout[] {
  const growths = growthsFor(config);
  const off: Layout = { tail: undefined, base: undefined, system: undefined, growth: growths[0] ?? 1 };
  if (cache.kind === 'none' || config.cache === 'off') return [off];
  // The provider caches by itself, for some minutes.
  if (cache.kind === 'automatic') return growths.map((growth) => ({ tail: '5m', base: '5m', system: '5m', growth }));
  const allowed = cache.ttls.filter((ttl) => config.cache === 'auto' || ttl === config.cache);
  const ttls = allowed.length > 0 ? allowed : cache.ttls;
  const kept = ttls.flatMap((tail) =>
    atLeast(tail, ttls).flatMap((base) =>
      atLeast(base, ttls).flatMap((system) => growths.map((growth) => ({ tail, base, system, growth }))),
    ),
  );
  if (config.cache !== 'auto') return kept;
  return [...kept, off, ...ttls.map((system) => ({ ...off, system }))];
}

function growthsFor({ recencyWindow, rollingThreshold }: LayoutConfig): readonly number[] {
  const [most, shares] =
    rollingThreshold === undefined ? [recencyWindow, AUTO_GROWTHS] : [rollingThreshold, SET_GROWTHS];
  return [...new Set(shares.map((share) => Math.max(1, Math.floor(share * most))))];
}

/** Providers refuse an entry of an hour behind one of five minutes. */
function atLeast(ttl: Ttl, ttls: readonly Ttl[]): readonly Ttl[] {
  return ttls.filter((other) => ttl === '5m' || other === '1h');
}
