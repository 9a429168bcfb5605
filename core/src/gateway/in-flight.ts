import type { Clock } from '@cinnabar/sdk';

export interface InFlight {
  enter(plugin: string): void;
  leave(plugin: string): void;
  count(plugin?: string): number;
  /** Plugins that have work under way. */
  busy(): readonly string[];
  drained(timeoutMs: number, plugin?: string): Promise<boolean>;
}

/** Counts handlers under way, by plugin, and tells when there are none. */
export function createInFlight(clock: Clock): InFlight {
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  let total = 0;
  const count = (plugin?: string) => (plugin === undefined ? total : (counts.get(plugin) ?? 0));

  return {
    enter(plugin) {
      total += 1;
      counts.set(plugin, (counts.get(plugin) ?? 0) + 1);
    },
    leave(plugin) {
      total -= 1;
      const left = (counts.get(plugin) ?? 1) - 1;
      if (left > 0) counts.set(plugin, left);
      else counts.delete(plugin);
      for (const check of waiting) check();
    },
    count,
    busy: () => [...counts.keys()],
    drained(timeoutMs, plugin) {
      if (count(plugin) === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const finish = (result: boolean) => {
          cancel();
          waiting.delete(check);
          resolve(result);
        };
        const check = () => {
          if (count(plugin) === 0) finish(true);
        };
        const cancel = clock.after(timeoutMs, () => finish(false));
        waiting.add(check);
      });
    },
  };
}
