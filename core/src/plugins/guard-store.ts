import { z } from '@cinnabar/sdk';
import type { StorageService } from '../contracts.js';
import type { GuardStore } from './guards.js';

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
