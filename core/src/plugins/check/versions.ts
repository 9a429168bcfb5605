import type { Owner } from '../../contracts.js';

/** Watches, without holding them, every version of every plugin that has run. */
export interface Versions {
  /** Takes note of what runs now. */
  note(owners: readonly Owner[]): void;
  /** How many were seen. */
  readonly seen: number;
  /** Those that are still in memory after collecting garbage, by plugin. */
  alive(): Promise<ReadonlyMap<string, number>>;
}

const COLLECTIONS = 8;

/** @param collectGarbage `globalThis.gc` of a process started with `--expose-gc` */
export function createVersions(collectGarbage: () => void): Versions {
  const refs: { readonly plugin: string; readonly ref: WeakRef<object> }[] = [];
  const known = new WeakSet<object>();

  return {
    note(owners) {
      for (const { id, plugin } of owners) {
        if (known.has(plugin)) continue;
        known.add(plugin);
        refs.push({ plugin: id, ref: new WeakRef(plugin) });
      }
    },
    get seen() {
      return refs.length;
    },
    async alive() {
      for (let round = 0; round < COLLECTIONS; round += 1) {
        // A reference that was looked at holds its object until the end of the turn.
        await new Promise((resolve) => setImmediate(resolve));
        collectGarbage();
      }
      const counts = new Map<string, number>();
      for (const { plugin, ref } of refs) {
        if (ref.deref() !== undefined) counts.set(plugin, (counts.get(plugin) ?? 0) + 1);
      }
      return counts;
    },
  };
}
