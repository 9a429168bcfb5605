import type { Actor, Logger, Tier } from '@cinnabar/sdk';
import { type CeilingsRoom, NO_CEILINGS } from '../config/ceilings.js';
import type { StorageRoom } from '../contracts.js';
import { createCatalog } from './catalog/catalog.js';
import { hideSecrets, type SecretKeys, secretKeysOf } from './catalog/fields.js';
import { openCollection } from './documents/collection.js';
import { collectionPath } from './documents/layout.js';
import { createVault, type StorageProblem } from './documents/vault.js';
import type { Driver } from './driver.js';
import { type OpenedPlugin, openPlugin, type Presets } from './open-plugin.js';
import { createPersonalData } from './personal-data.js';

/** Where the host's own documents lie: no plugin's id can look like this. */
const HOST = '@host';

export interface StorageOptions {
  readonly driver: Driver;
  readonly log: Logger;
  /** Values for plugins' global settings that hold until an owner sets others, by plugin. */
  readonly presets?: Readonly<Record<string, Presets>>;
  /** Where a preset stands, for people. */
  readonly presetPlace?: (plugin: string, key: string) => string;
  /** What admins may set at most. */
  readonly ceilings?: CeilingsRoom;
  /** Who may change settings; without it nobody may, but people their own. */
  readonly tierOf?: (actor: Actor) => Promise<Tier>;
  /** Whether a role is one of the server's; without it none is, so that settings by role can be changed by nobody there. */
  readonly hasRole?: (guildId: string, roleId: string) => boolean;
  /** Ids of a server's channels that have a name, in lower case; without it channels are mentioned, or named by id. */
  readonly channelsCalled?: (guildId: string, name: string) => readonly string[];
  /** Told of every document that had to be put aside, so that the owner hears of it. Must not throw. */
  readonly onProblem?: (problem: StorageProblem) => void;
}

/** Builds the storage of all plugins over one driver. Whoever made the driver closes it, after the last `flush`. */
export function createStorage(options: StorageOptions): StorageRoom {
  const {
    driver,
    log,
    presets = {},
    presetPlace = (plugin, key) => `${plugin}.${key}`,
    ceilings = NO_CEILINGS,
    tierOf = async () => 'everyone',
    hasRole = () => false,
    channelsCalled = () => [],
    onProblem = () => undefined,
  } = options;
  const vault = createVault({ driver, log, onProblem });
  const opened = new Map<string, OpenedPlugin>();
  const secrets = new Map<string, SecretKeys>();
  const personal = createPersonalData({
    vault,
    withoutSecrets: (id, scope, data) => hideSecrets(secrets.get(id) ?? new Map(), scope, data),
  });

  return {
    open(plugin) {
      const { id } = plugin.manifest;
      const one = openPlugin(vault, plugin, presets[id] ?? {}, (key) => presetPlace(id, key), ceilings);
      opened.set(id, one);
      secrets.set(id, secretKeysOf(plugin));
      return one.storage;
    },
    close(plugin) {
      const { id } = plugin.manifest;
      if (opened.get(id)?.plugin === plugin) opened.delete(id);
    },
    collection: (name, definition) => openCollection(vault, definition, collectionPath(HOST, definition.scope, name)),
    catalog: createCatalog({ opened, tierOf, hasRole, channelsCalled }),
    ...personal,
    flush: () => vault.idle(),
  };
}
