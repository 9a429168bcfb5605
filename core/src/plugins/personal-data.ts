import type { PersonalData } from '@cinnabar/sdk';
import type { PersonalDataRoom, StorageRoom } from '../contracts.js';

/** Export and deletion of one person's data over all plugins. */
export function createPersonalData(storage: StorageRoom): PersonalDataRoom {
  const sources = new Map<string, Set<PersonalData>>();
  const each = function* () {
    for (const [plugin, set] of sources) for (const data of set) yield { plugin, data };
  };
  return {
    register(owner, data) {
      const set = sources.get(owner.id) ?? new Set();
      sources.set(owner.id, set.add(data));
      return owner.scope.add('personal data', () => set.delete(data));
    },
    async export(userId) {
      const stored = await storage.exportUser(userId);
      const own: Record<string, unknown> = {};
      for (const { plugin, data } of each()) own[plugin] = await data.export(userId);
      return Object.keys(own).length === 0 ? stored : { ...stored, own };
    },
    async forget(userId) {
      for (const { data } of each()) await data.forget(userId);
      return storage.forgetUser(userId);
    },
  };
}
