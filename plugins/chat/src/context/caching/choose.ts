import { expectedCost, type Sizes } from './expected-cost.js';
import type { Layout } from './layouts.js';
import type { Multipliers } from './prices.js';
import type { Rhythm } from './rhythm.js';

/** Over how many activations to come the cost of the first write is spread. */
const HORIZON = 8;

export interface Situation {
  readonly rhythm: Rhythm;
  readonly sizes: Sizes;
  readonly prices: Multipliers;
  /** Tokens of prefix that can be read now, whatever is written. */
  readonly readable: number;
}

/** The layout that is cheapest by this activation and those expected to follow. Of equal ones the first. */
export function chooseLayout(layouts: readonly Layout[], situation: Situation): Layout {
  const { rhythm, sizes, prices } = situation;
  return layouts
    .map((layout) => ({
      layout,
      cost: costNow(layout, situation) / HORIZON + expectedCost(layout, rhythm, sizes, prices),
    }))
    .reduce((best, other) => (other.cost < best.cost ? other : best)).layout;
}

/** What is held is read; the rest is written as the layout says. */
function costNow({ tail, base }: Layout, { sizes, prices, readable }: Situation): number {
  const rest = Math.max(0, sizes.system + sizes.kept - readable);
  const ttl = readable > sizes.system ? tail : base;
  return prices.read * readable + (ttl === undefined ? 1 : prices.write[ttl]) * rest;
}
