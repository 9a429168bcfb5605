import type { PersonalData } from '@cinnabar/sdk';
import type { PersonalDataService, StorageService } from '../contracts.js';

/**
 * Export and deletion of one person's data over all plugins.
 * @param host what the host itself holds, by name, such as the tool calls that the person asked for: plugins go first, since they may end
 *   some that are still open
 * @param callsAreTold resolves when every call that has ended has been told of
 */
export function createPersonalData(
  storage: StorageService,
  host: Readonly<Record<string, PersonalData>>,
  callsAreTold: () => Promise<void> = async () => undefined,
): PersonalDataService {
  const sources = new Map<string, Set<Partial<PersonalData>>>();
  return {
    register(owner, data) {
      const set = sources.get(owner.id) ?? new Set();
      const dispose = owner.scope.add('personal data', () => set.delete(data));
      sources.set(owner.id, set.add(data));
      return dispose;
    },
    async export(userId) {
      const stored = await storage.exportUser(userId);
      const own: Record<string, unknown> = {};
      for (const [plugin, set] of sources) {
        const parts: unknown[] = [];
        for (const data of set) if (data.export !== undefined) parts.push(await data.export(userId));
        // A plugin that keeps several kinds of data registers each: none may hide another.
        if (parts.length > 0) own[plugin] = parts.length === 1 ? parts[0] : parts;
      }
      const ofHost: Record<string, unknown> = {};
      for (const [name, data] of Object.entries(host)) ofHost[name] = await data.export(userId);
      const more = Object.entries({ own, ...ofHost }).filter(([, data]) => Object.keys(data ?? {}).length > 0);
      return { ...stored, ...Object.fromEntries(more) };
    },
    stays: () =>
      [...[...sources.values()].flatMap((set) => [...set]), ...Object.values(host)].flatMap(({ stays = [] }) => stays),
    async forget(userId) {
      const failures: unknown[] = [];
      const attempt = (forgetting: Promise<void> | undefined) =>
        forgetting?.catch((error: unknown) => failures.push(error));
      const byPlugins = async () => {
        for (const set of sources.values()) for (const data of set) await attempt(data.forget?.(userId));
      };
      await byPlugins();
      // What one of them has ended, others may have written down since.
      await callsAreTold();
      await byPlugins();
      for (const data of Object.values(host)) await attempt(data.forget(userId));
      let documents = 0;
      await attempt(
        storage.forgetUser(userId).then((gone) => {
          documents = gone;
        }),
      );
      // A plugin that fails does not keep the others' data, but the member must not read that everything was deleted.
      if (failures.length === 1) throw failures[0];
      if (failures.length > 0) throw new AggregateError(failures, 'not everything could be deleted');
      return documents;
    },
  };
}
