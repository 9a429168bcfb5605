import type { World } from '../state/world.js';
import { type LettaRunView, viewRun } from './view-run.js';

/** Resolves with the `count`-th run as soon as it has begun. */
export function started(world: World, count: number): Promise<LettaRunView> {
  return when(world, () => {
    const run = [...world.runs.values()][count - 1];
    return run === undefined ? undefined : viewRun(run);
  });
}

/** Resolves when no run is under way. */
export async function idle(world: World): Promise<void> {
  await when(world, () => (world.active.size === 0 ? true : undefined));
}

function when<T>(world: World, look: () => T | undefined): Promise<T> {
  return new Promise((resolve) => {
    const check = () => {
      const found = look();
      if (found === undefined) return;
      world.watchers.delete(check);
      resolve(found);
    };
    world.watchers.add(check);
    check();
  });
}
