import { type Cycle, cycleOf, type Forecast, lossOf, restartCost, writePrice } from './cycle.js';
import type { Layout } from './layouts.js';

/** The window as it stands, with what the provider holds of it. In tokens, where nothing else is said. */
export interface Standing {
  /** The whole prompt. */
  readonly total: number;
  /** Of its beginning, what can be read now. */
  readonly readable: number;
  /** Of its beginning, what is held for an hour. */
  readonly lasting: number;
  /** By how many messages the window exceeds the size that it is cut back to; negative while it fills. */
  readonly grown: number;
  /** By how many more messages it may grow before a limit other than the layout's cuts it; negative beyond that. */
  readonly room: number;
  /** The same of a window that has just been cut back. */
  readonly roomAfterCut: number;
}

export interface Plan {
  readonly layout: Layout;
  /** The window is to be cut back now, since that is cheaper than going on with it, or it is beyond its limit. */
  readonly roll: boolean;
}

/** What the best layout costs in the long run. */
interface Future {
  /** A mean activation. */
  readonly mean: number;
  readonly layout: Layout;
  /** A mean restart. */
  readonly restart: number;
}

/**
 * The cheapest way to go on, by the cost of this activation and of all that follow. From one restart of the window to the next is a cycle;
 * the mean cost of an activation is that of a cycle by its length (a renewal process). A plan costs what it pays until the window
 * restarts, less the mean for each activation that it lasts: so a write is paid for by the reads that are probable before the window is
 * lost or cut back, and by these alone. Of equal plans the first.
 */
export function choosePlan(layouts: readonly [Layout, ...Layout[]], standing: Standing, forecast: Forecast): Plan {
  const future = futureOf(layouts, standing, forecast);
  const isHeld = standing.readable > forecast.sizes.system;
  const [first] = layouts;
  let best = { layout: first, roll: true, cost: Number.POSITIVE_INFINITY };
  const consider = (layout: Layout, roll: boolean, cost: number) => {
    if (cost < best.cost) best = { layout, roll, cost };
  };
  for (const layout of layouts) {
    const room = Math.min(standing.room, layout.growth - standing.grown);
    // A window that the provider does not hold for these tools may be held for others: it is not cut back for the sake of the cost.
    if (room >= 0 || (!isHeld && standing.room >= 0)) {
      consider(layout, false, costOfKeeping(layout, Math.max(0, room), standing, forecast, future));
    }
    if (isHeld && standing.grown > 0) consider(layout, true, costOfCut(layout, standing, forecast, future));
  }
  return { layout: best.layout, roll: best.roll };
}

function futureOf(layouts: readonly [Layout, ...Layout[]], { roomAfterCut }: Standing, forecast: Forecast): Future {
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

function costOfCut(layout: Layout, { roomAfterCut }: Standing, forecast: Forecast, future: Future): number {
  const now = restartCost(layout, layout, 'full', forecast);
  return now + costAfter(cycleAfterCut(layout, roomAfterCut, forecast), layout, forecast, future);
}

function costOfKeeping(layout: Layout, room: number, standing: Standing, forecast: Forecast, future: Future): number {
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
    // The next activation cuts the window back, so that the newest messages need not be written.
    const lost = lossOf(lasting > sizes.system ? '1h' : '5m', forecast.rhythm);
    return now + costAfter({ cost: 0, activations: 0, lost }, layout, forecast, future, total - sizes.system);
  }
  const start = { total, room, held: tail, lasting: tail === '1h' ? total : lasting };
  return now + costAfter(cycleOf(layout, start, forecast), layout, forecast, future, total - sizes.system);
}

/** What follows, up to and with the next restart, compared with as many mean activations. */
function costAfter(
  cycle: Cycle,
  layout: Layout,
  forecast: Forecast,
  { mean, restart, layout: next }: Future,
  shown = forecast.sizes.kept,
): number {
  const { kept } = forecast.sizes;
  // A window that is not full yet has less to lose.
  const again = average(cycle.lost, (because) =>
    restartCost(next, layout, because, forecast, because === 'lost' ? Math.min(kept, shown) : kept),
  );
  return cycle.cost - mean * cycle.activations + again - restart;
}

function average(lost: number, of: (because: 'lost' | 'full') => number): number {
  return lost * of('lost') + (1 - lost) * of('full');
}
