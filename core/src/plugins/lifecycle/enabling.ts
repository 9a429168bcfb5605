import { CinnabarError, type Manifest } from '@cinnabar/sdk';
import type { GuildStates } from '../../contracts.js';
import { assertNotRequired, type LifecycleContext } from './records.js';

/** Where plugins are switched on. */
export interface Enabling {
  enabledIn(guildId: string | null, id: string): boolean;
  /** @throws CINNABAR_PLUGIN_UNKNOWN, CINNABAR_PLUGIN_REQUIRED */
  set(guildId: string, id: string, enabled: boolean): Promise<void>;
  /** Guards that are enabled there but not running. */
  guardsDown(guildId: string | null): readonly string[];
}

export function createEnabling(
  { records, guards }: Pick<LifecycleContext, 'records' | 'guards'>,
  states: GuildStates,
): Enabling {
  const decide = (guildId: string | null, id: string, manifest: Pick<Manifest, 'enabledByDefault' | 'required'>) => {
    if (manifest.required === true) return true;
    const chosen = guildId === null ? undefined : states.peek(guildId)?.plugins[id];
    return chosen ?? manifest.enabledByDefault ?? true;
  };
  const known = (id: string) => records.get(id)?.manifest ?? guards.get(id);

  return {
    enabledIn(guildId, id) {
      const manifest = known(id);
      return manifest !== undefined && decide(guildId, id, manifest);
    },
    async set(guildId, id, enabled) {
      if (known(id) === undefined) throw new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: id });
      const record = records.get(id);
      if (!enabled && record !== undefined) assertNotRequired(record);
      await states.update(guildId, (draft) => ({ ...draft, plugins: { ...draft.plugins, [id]: enabled } }));
    },
    guardsDown: (guildId) =>
      guards
        .all()
        .filter((guard) => records.get(guard.id)?.run === undefined && decide(guildId, guard.id, guard))
        .map(({ id }) => id)
        .sort(),
  };
}
