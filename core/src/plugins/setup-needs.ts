import type { Disposer, Logger, SetupCheck, SetupNeed } from '@cinnabar/sdk';
import type { Owner } from '../contracts.js';

/** What plugins say of whether they are set up. */
export interface SetupNeeds {
  register(owner: Owner, check: SetupCheck): Disposer;
  /** What is missing in the guild (`null`: direct messages); `undefined` where the plugin works, or has not said. Never rejects. */
  of(guildId: string | null, id: string): Promise<SetupNeed | undefined>;
}

export function createSetupNeeds(log: Logger): SetupNeeds {
  const checks = new Map<string, Set<SetupCheck>>();
  return {
    register(owner, check) {
      const own = checks.get(owner.id) ?? new Set();
      checks.set(owner.id, own.add(check));
      return owner.scope.add('check of its setup', () => own.delete(check));
    },
    async of(guildId, id) {
      for (const check of checks.get(id) ?? []) {
        try {
          const need = await check(guildId);
          if (need !== undefined) return need;
        } catch (error) {
          log.warn('a plugin could not say whether it is set up', { plugin: id, guildId, error });
        }
      }
      return undefined;
    },
  };
}
