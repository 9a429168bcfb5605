import type { Logger, Manifest } from '@cinnabar/sdk';
import type { GuardStore, KnownGuard } from '../guards.js';

/** The plugins that are known to guard tools, whether or not they can be loaded now. */
export interface GuardBook {
  /** Reads what earlier runs of the host knew. */
  open(): Promise<void>;
  /** Takes in what a plugin says of itself; written before it resolves. A failure to write is logged. */
  note(manifest: Manifest): Promise<void>;
  get(id: string): KnownGuard | undefined;
  all(): readonly KnownGuard[];
}

export function createGuardBook(store: GuardStore, log: Logger): GuardBook {
  const known = new Map<string, KnownGuard>();

  return {
    async open() {
      try {
        for (const guard of await store.read()) known.set(guard.id, guard);
      } catch (error) {
        log.error('the list of plugins that guard tools cannot be read; it is made anew from those that load', {
          error,
        });
      }
    },
    async note({ id, guard = false, enabledByDefault = true }) {
      const before = known.get(id);
      if (guard ? before?.enabledByDefault === enabledByDefault : before === undefined) return;
      if (guard) known.set(id, { id, enabledByDefault });
      else known.delete(id);
      try {
        await store.write([...known.values()]);
      } catch (error) {
        log.error('the list of plugins that guard tools cannot be written', { error });
      }
    },
    get: (id) => known.get(id),
    all: () => [...known.values()],
  };
}
