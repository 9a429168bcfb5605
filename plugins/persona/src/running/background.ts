import type { Logger } from '@cinnabar/sdk';

/** Work that nobody waits for but the plugin's stop: what belongs to no event, command or turn. */
export interface Background {
  /** Begins it at once; what it throws is logged. */
  run(what: string, task: () => Promise<void>): void;
  /** Resolves when nothing is under way. To be deferred: the plugin's signal has aborted by then, and ends what takes long. */
  idle(): Promise<void>;
}

export function createBackground(log: Logger): Background {
  const under = new Set<Promise<void>>();
  return {
    run(what, task) {
      const work = task()
        .catch((error: unknown) => log.warn(`${what} failed`, { error }))
        .finally(() => under.delete(work));
      under.add(work);
    },
    async idle() {
      while (under.size > 0) await Promise.all(under);
    },
  };
}
