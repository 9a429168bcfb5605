import type { World } from '../state/world.js';

/** What a killed server leaves: runs that nobody works on, which the database shows as they were. What had been stored stays. */
export function crash(world: World): void {
  for (const run of [...world.active]) {
    run.dead = true;
    world.active.delete(run);
    for (const tell of [...run.listeners]) tell('cut');
    run.stopped.abort();
  }
  for (const watch of [...world.watchers]) watch();
}
