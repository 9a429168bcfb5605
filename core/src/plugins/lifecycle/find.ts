import { realpath } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { CinnabarError, type Plugin } from '@cinnabar/sdk';
import type { Discover, DiscoveredPlugin } from '../discovery/discovery.js';
import { inspectFolder } from '../discovery/inspect.js';
import type { PluginLoader } from '../loader.js';
import { type Origin, type PluginRecord, stateOf, unseen } from './records.js';
import type { LifecycleContext } from './room.js';

export interface Finder {
  /** Looks at the disk, and makes records of what is new. Returns what cannot be used. */
  refresh(): Promise<readonly CinnabarError[]>;
  /** Makes a record of an in-memory plugin, or gives the one that is there its next version. */
  add(plugin: Plugin, path: string): PluginRecord;
  /** Makes a record of a plugin's folder, wherever it is. @throws CINNABAR_PLUGIN_INVALID, CINNABAR_PLUGIN_DUPLICATE */
  include(folder: string): Promise<PluginRecord | undefined>;
  /** A record by id, or by the folder that it is in. */
  find(idOrFolder: string): PluginRecord | undefined;
}

interface Parts {
  readonly room: LifecycleContext;
  readonly discover: Discover;
  readonly loader: PluginLoader;
}

/** Builds what keeps the records in line with what there is. */
export function createFinder({ room, discover, loader }: Parts): Finder {
  const { records } = room;

  const onDisk = ({ source, path }: DiscoveredPlugin): Origin => ({
    source,
    path,
    // The package may name another entry by now.
    load: async (verify) => loader.load(await inspectFolder(path, source), { verify }),
  });

  const note = async (found: DiscoveredPlugin) => {
    const known = [...records.values()].find(({ origin }) => origin.path === found.path);
    if (known !== undefined) return undefined;
    const other = records.get(found.id);
    if (other !== undefined) {
      const params = { plugin: found.id, first: other.origin.path, second: found.path };
      return new CinnabarError('CINNABAR_PLUGIN_DUPLICATE', params);
    }
    const { version, description, guard } = found;
    const record = unseen(found.id, onDisk(found), { version, description, guard });
    records.set(record.id, record);
    if (guard) await room.guards.note(record.manifest);
    return undefined;
  };

  const find = (idOrFolder: string) => {
    const path = resolve(idOrFolder);
    const inFolder = ({ origin }: PluginRecord) => origin.path === path || basename(origin.path) === idOrFolder;
    return records.get(idOrFolder) ?? [...records.values()].find(inFolder);
  };

  return {
    async include(folder) {
      const problem = await note(await inspectFolder(await realpath(folder), 'folder'));
      if (problem !== undefined) throw problem;
      return find(await realpath(folder));
    },
    async refresh() {
      const { plugins, problems } = await discover();
      const noted: (CinnabarError | undefined)[] = [];
      for (const found of plugins) noted.push(await note(found));
      return [...problems, ...noted.filter((problem) => problem !== undefined)];
    },
    add(plugin, path) {
      const { id } = plugin.manifest;
      const origin: Origin = { source: 'folder', path, load: () => Promise.resolve(plugin) };
      const record = records.get(id) ?? unseen(id, origin, plugin.manifest);
      if (stateOf(record) === 'stopped') record.manifest = plugin.manifest;
      record.origin = origin;
      records.set(id, record);
      return record;
    },
    find,
  };
}
