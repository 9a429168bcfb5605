import type { Clock, Configuration, Logger, Plugin } from '@cinnabar/sdk';
import type { GatewayIntentsString } from 'discord.js';
import { createConfiguration } from '../config/configuration.js';
import type { HostConfig } from '../config/host-config.js';
import type { StorageService } from '../contracts.js';
import { discordChecks } from './discord-checks.js';
import type { Check } from './examine.js';
import { configurationCheck, hostChecks } from './host-checks.js';
import { type LoadedPlugin, pluginChecks } from './plugin-checks.js';

interface AllParts {
  readonly config: HostConfig;
  readonly clock: Clock;
  readonly intents: () => readonly GatewayIntentsString[];
  readonly plugins: readonly LoadedPlugin[];
  isOnIn(guildId: string, plugin: Plugin): Promise<boolean>;
  readonly storage: Pick<StorageService, 'settingsOf'>;
  readonly configuration: Pick<Configuration, 'layers'>;
  /** What plugins read as their environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
}

/** The one list of checks: of `!doctor` in the running bot and of `cinnabar doctor` beside it. */
export function allChecks(parts: AllParts): readonly Check[] {
  const { config, clock, intents, plugins, isOnIn, storage, configuration, environment, log } = parts;
  const { configDir: dir, root, botName } = config;
  // A configuration for this check alone: the keys that plugins claim in it are gone with it.
  const fresh = createConfiguration({ dir, root, botName, clock, log, watch: () => () => undefined });
  const declared = plugins.map(({ plugin }) => plugin);
  const checked = declared.map((plugin) => ({
    manifest: plugin.manifest,
    isOnIn: (guildId: string) => isOnIn(guildId, plugin),
  }));
  return [
    ...hostChecks(config),
    configurationCheck(fresh, declared),
    ...discordChecks({ config, clock, intents, plugins: () => checked }),
    ...pluginChecks(plugins, { storage, configuration, clock, environment }),
  ];
}
