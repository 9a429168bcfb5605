import type { Clock, Configuration, Plugin } from '@cinnabar/sdk';
import type { StorageService } from '../contracts.js';
import { readEnvironment } from '../plugins/context.js';
import type { Check } from './examine.js';

interface PluginParts {
  readonly storage: Pick<StorageService, 'settingsOf'>;
  readonly configuration: Pick<Configuration, 'layers'>;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A plugin, and whether it comes with the host. */
export interface LoadedPlugin {
  readonly plugin: Plugin;
  readonly isBundled: boolean;
}

/** What the plugins themselves check. */
export function pluginChecks(
  plugins: readonly LoadedPlugin[],
  { storage, configuration, clock, environment }: PluginParts,
): readonly Check[] {
  return plugins.flatMap(({ plugin, isBundled }) => {
    if (plugin.checks === undefined) return [];
    return {
      about: plugin.manifest.id,
      run: async (signal) =>
        plugin.checks?.({
          settings: storage.settingsOf(plugin),
          env: readEnvironment(plugin, isBundled, environment),
          configuration,
          clock,
          signal,
        }) ?? [],
    };
  });
}
