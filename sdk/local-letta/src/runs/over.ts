import type { LettaRun } from '../state/run.js';

/** Resolves when nothing more comes of the run. */
export function over(run: LettaRun): Promise<void> {
  if (run.over) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (!run.over) return;
      run.listeners.delete(look);
      resolve();
    };
    run.listeners.add(look);
  });
}
