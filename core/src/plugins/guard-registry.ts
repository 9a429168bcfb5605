import { type Logger, type Manifest, z } from '@cinnabar/sdk';
import type { StorageService } from '../contracts.js';

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

const schema = z.object({ guards: z.array(z.object({ id: z.string(), enabledByDefault: z.boolean() })).default([]) });

/** Keeps the known guards in the host's own storage. */
export function createGuardStore(storage: StorageService): GuardStore {
  const document = storage.collection('guards', { scope: 'global', version: 1, schema }).of('known');
  return {
    read: async () => (await document.get()).guards,
    async write(guards) {
      await document.set({ guards: guards.map((guard) => ({ ...guard })) });
    },
  };
}

/** What must survive a restart of a plugin that guards tools, so that a broken one still fails closed. */
export interface KnownGuard {
  readonly id: string;
  readonly enabledByDefault: boolean;
}

export interface GuardStore {
  read(): Promise<readonly KnownGuard[]>;
  write(guards: readonly KnownGuard[]): Promise<void>;
}
