import { realpath } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { CinnabarError, type ErrorCode, type Plugin, t, type UnloadReport, withinLimit } from '@cinnabar/sdk';
import { type Discover, type DiscoveredPlugin, inspectFolder } from '../discovery.js';
import type { PluginLoader } from '../loader.js';
import { arrangement } from '../start-order.js';
import {
  adopt,
  assertNoneRequired,
  assertNotRequired,
  failureError,
  failureOf,
  type LifecycleContext,
  noteFailure,
  type Origin,
  type PluginRecord,
  problemOf,
  release,
  stateOf,
  unknownPlugin,
  unseen,
} from './records.js';
import { START_MS, settle, stopWithDependents } from './start-stop.js';

export interface BootReport {
  readonly running: readonly string[];
  /** Everything that did not start, with a sentence each: broken folders, failed plugins, waiting plugins. */
  readonly problems: readonly { readonly plugin: string; readonly problem: string; readonly code?: ErrorCode }[];
}

interface BootOptions {
  /** Ids or folders of plugins: no others are started. */
  readonly only: readonly string[] | undefined;
  readonly disabled: readonly string[];
}

/** Finds, loads and starts plugins. Never rejects because of a plugin. */
export async function boot(
  lifecycle: LifecycleContext,
  finder: Finder,
  { only, disabled }: BootOptions,
): Promise<BootReport> {
  await lifecycle.guards.open();
  const broken = await finder.refresh();
  // Problems of other plugins are not reported when `only` is given.
  const unusable = only === undefined ? broken : [];
  for (const { message } of unusable) lifecycle.log.warn(message);
  const chosen = only === undefined ? [...lifecycle.records.values()] : await chosenRecords(finder, only);
  const wanted = chosen.filter(({ id }) => !disabled.includes(id));
  // A guard that the start excludes by name no longer blocks tools. A guard that fails to start still does.
  for (const { id, manifest } of [...lifecycle.records.values()].filter((record) => !wanted.includes(record))) {
    if (disabled.includes(id) && lifecycle.guards.get(id) !== undefined) {
      lifecycle.log.warn(`${id} is switched off by the configuration, so tools run without it`, { plugin: id });
    }
    await lifecycle.guards.note({ ...manifest, guard: false });
  }
  const loaded = await Promise.all(wanted.map((record) => attempt(lifecycle, record)));
  // One after another in the order of discovery, so that of two plugins with one id the first found is kept, whichever is built first.
  for (const { record, result } of loaded) await takeInOrNote(lifecycle, record, result);
  for (const id of disabled) {
    const record = lifecycle.records.get(id);
    if (record !== undefined) release(record);
  }
  await settle(lifecycle);
  return report(lifecycle, unusable);
}

async function chosenRecords(finder: Finder, only: readonly string[]): Promise<readonly PluginRecord[]> {
  const chosen: PluginRecord[] = [];
  for (const wanted of only) {
    const record = finder.find(wanted) ?? (wanted.includes('/') ? await finder.include(wanted) : undefined);
    if (record === undefined) throw new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: wanted, hint: '' });
    chosen.push(record);
  }
  return chosen;
}

async function attempt(lifecycle: LifecycleContext, record: PluginRecord) {
  const result = await loadDefinition(lifecycle, record, false).catch((error: unknown) => ({ error }));
  return { record, result };
}

async function takeInOrNote(
  lifecycle: LifecycleContext,
  record: PluginRecord,
  result: Awaited<ReturnType<typeof attempt>>['result'],
): Promise<void> {
  if ('error' in result) return noteFailure(lifecycle, record, result.error);
  try {
    await takeIn(lifecycle, record, result);
  } catch (error) {
    noteFailure(lifecycle, record, error);
  }
}

function report(lifecycle: LifecycleContext, broken: readonly CinnabarError[]): BootReport {
  const records = [...lifecycle.records.values()];
  const failed = records.flatMap((record) => {
    const problem = problemOf(lifecycle, record);
    if (problem === undefined) return [];
    const { id, failure } = record;
    return [failure === undefined ? { plugin: id, problem } : { plugin: id, problem, code: failure.code }];
  });
  const unusable = broken.map(({ message, params }) => ({
    plugin: String(params.plugin ?? params.place),
    problem: message,
  }));
  const running = records.filter((record) => stateOf(record) === 'running').map(({ id }) => id);
  return { running, problems: [...unusable, ...failed] };
}

/**
 * Loads a plugin that is not loaded, and starts it unless something that it needs is missing.
 * @throws CINNABAR_PLUGIN_UNKNOWN, CINNABAR_PLUGIN_STATE, or the error with which it fails to load or start
 */
export async function load(lifecycle: LifecycleContext, finder: Finder, idOrFolder: string): Promise<PluginRecord> {
  const broken = await finder.refresh();
  const record = finder.find(idOrFolder);
  if (record === undefined) throw explain(lifecycle, idOrFolder, broken);
  assertNotLoaded(record);
  const loaded = await loadAnew(lifecycle, record);
  await settle(lifecycle);
  if (loaded.failure !== undefined) throw failureError(loaded.failure);
  return loaded;
}

async function loadAnew(lifecycle: LifecycleContext, record: PluginRecord): Promise<PluginRecord> {
  try {
    return await takeIn(lifecycle, record, await loadDefinition(lifecycle, record, true));
  } catch (error) {
    record.failure = failureOf(record.id, error);
    throw error;
  }
}

/** The error about a folder of that name, if there is one; otherwise that the plugin is unknown. */
function explain({ records }: LifecycleContext, wanted: string, broken: readonly CinnabarError[]): CinnabarError {
  const report = broken.find(({ params }) => {
    const place = String(params.place ?? '');
    return place === wanted || place.endsWith(`/${wanted}`);
  });
  return report ?? unknownPlugin(wanted, records);
}

/** @throws CINNABAR_PLUGIN_STATE while the plugin runs or waits */
function assertNotLoaded(record: PluginRecord): void {
  const state = stateOf(record);
  if (state !== 'running' && state !== 'waiting') return;
  const words = state === 'running' ? t('already running') : t('already loaded, and waiting');
  throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: record.id, state: words });
}

/**
 * Stops a plugin and releases its code. Plugins that need it are stopped first, and wait.
 * @throws CINNABAR_PLUGIN_STATE, CINNABAR_PLUGIN_REQUIRED
 */
export async function unload(lifecycle: LifecycleContext, record: PluginRecord): Promise<UnloadReport> {
  if (stateOf(record) === 'stopped') {
    throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: record.id, state: t('not loaded') });
  }
  assertNotRequired(record);
  assertNoneRequired(lifecycle, record.id, arrangement(lifecycle, { id: record.id, by: undefined }).hindered);
  const leftovers = await stopWithDependents(lifecycle, record);
  release(record);
  await settle(lifecycle);
  return { leftovers };
}

/** Removes the record of a deleted plugin. @throws CINNABAR_PLUGIN_STATE while it runs or waits */
export async function forget(lifecycle: LifecycleContext, record: PluginRecord): Promise<void> {
  assertNotLoaded(record);
  await lifecycle.guards.note({ ...record.manifest, guard: false });
  lifecycle.records.delete(record.id);
}

/**
 * Evaluates a plugin's newest version, within the time limit of a start. Changes nothing.
 * @throws errors of `Origin.load`; CINNABAR_PLUGIN_TIMEOUT; CINNABAR_PLUGIN_STATE when the host stops meanwhile
 */
export async function loadDefinition(
  { clock, ending }: Pick<LifecycleContext, 'clock' | 'ending'>,
  { id, origin }: Pick<PluginRecord, 'id' | 'origin'>,
  verify: boolean,
): Promise<Plugin> {
  const loaded = await withinLimit(clock, START_MS, origin.load(verify), ending);
  if (loaded.inTime) return loaded.value;
  if (ending.aborted) throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: id, state: t('stopping') });
  throw new CinnabarError('CINNABAR_PLUGIN_TIMEOUT', { plugin: id, seconds: START_MS / 1000, step: 'load' });
}

/**
 * Stores a loaded definition in the record, which has the id of the manifest from now on.
 * @throws CINNABAR_PLUGIN_DUPLICATE when another plugin has that id
 */
async function takeIn(lifecycle: LifecycleContext, record: PluginRecord, definition: Plugin): Promise<PluginRecord> {
  const named = renamed(lifecycle, record, definition.manifest.id);
  // Removes a guard that was recorded under its folder's name: it is recorded under its id now.
  if (named !== record) await lifecycle.guards.note({ ...record.manifest, guard: false });
  await lifecycle.guards.note(definition.manifest);
  adopt(named, definition);
  return named;
}

function renamed({ records }: LifecycleContext, record: PluginRecord, id: string): PluginRecord {
  if (record.id === id) return record;
  const other = records.get(id);
  if (other !== undefined) {
    const params = { plugin: id, first: other.origin.path, second: record.origin.path };
    throw new CinnabarError('CINNABAR_PLUGIN_DUPLICATE', params);
  }
  records.delete(record.id);
  const named = { ...record, id };
  records.set(id, named);
  return named;
}

export type Finder = ReturnType<typeof createFinder>;

/** Updates the records to the plugins on the disk and in memory. */
export function createFinder(lifecycle: LifecycleContext, discover: Discover, loader: PluginLoader) {
  const { records } = lifecycle;

  const onDisk = ({ source, path, pinnedId }: DiscoveredPlugin): Origin => ({
    source,
    path,
    async load(verify) {
      // The folder is inspected again, since its package may name another entry file now.
      const plugin = await loader.load(inspectFolder(path, source, pinnedId), { verify });
      const { id } = plugin.manifest;
      if (pinnedId === undefined || id === pinnedId) return plugin;
      const detail = `it was installed as "${pinnedId}" and says now that it is "${id}"`;
      throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: path, detail });
    },
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
    if (guard) await lifecycle.guards.note(record.manifest);
    return undefined;
  };

  const find = (idOrFolder: string): PluginRecord | undefined => {
    const path = resolve(idOrFolder);
    const inFolder = ({ origin }: PluginRecord) => origin.path === path || basename(origin.path) === idOrFolder;
    return records.get(idOrFolder) ?? [...records.values()].find(inFolder);
  };

  return {
    /** Makes a record of the plugin in any folder. @throws CINNABAR_PLUGIN_INVALID, CINNABAR_PLUGIN_DUPLICATE */
    async include(folder: string): Promise<PluginRecord | undefined> {
      const problem = await note(inspectFolder(await realpath(folder), 'folder'));
      if (problem !== undefined) throw problem;
      return find(await realpath(folder));
    },
    /** The origin of an installed plugin's version in a folder. @throws CINNABAR_PLUGIN_INVALID */
    originIn: async (folder: string, id: string): Promise<Origin> =>
      onDisk(inspectFolder(await realpath(folder), 'package', id)),
    /** Searches the disk, and makes records of new plugins. Returns the problems of those that cannot be used. */
    async refresh(): Promise<readonly CinnabarError[]> {
      const { plugins, problems } = await discover();
      const noted: (CinnabarError | undefined)[] = [];
      for (const found of plugins) noted.push(await note(found));
      return [...problems, ...noted.filter((problem) => problem !== undefined)];
    },
    /** Makes a record of an in-memory plugin, or gives the existing record its next version. */
    add(plugin: Plugin, path: string): PluginRecord {
      const { id } = plugin.manifest;
      const origin: Origin = { source: 'folder', path, load: () => Promise.resolve(plugin) };
      const record = records.get(id) ?? unseen(id, origin, plugin.manifest);
      if (stateOf(record) === 'stopped') record.manifest = plugin.manifest;
      record.origin = origin;
      records.set(id, record);
      return record;
    },
    /** A record by id, or by the folder that it is in. */
    find,
  };
}
