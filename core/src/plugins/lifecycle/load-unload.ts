import { CinnabarError, type UnloadReport } from '@cinnabar/sdk';
import { arrangement } from './arrangement.js';
import type { Finder } from './find.js';
import { loadDefinition, takeIn } from './load.js';
import { failureError, failureOf, type PluginRecord, release, stateOf } from './records.js';
import { assertNoneRequired, assertNotRequired } from './required.js';
import type { LifecycleContext } from './room.js';
import { settle } from './settle.js';
import { stopWithDependents } from './stop.js';

/**
 * Loads a plugin that is not loaded, and starts it unless something that it needs is missing.
 * @throws CINNABAR_PLUGIN_UNKNOWN, CINNABAR_PLUGIN_STATE, or why it does not load or start
 */
export async function load(room: LifecycleContext, finder: Finder, idOrFolder: string): Promise<PluginRecord> {
  const broken = await finder.refresh();
  const record = finder.find(idOrFolder);
  if (record === undefined) throw explain(idOrFolder, broken);
  const state = stateOf(record);
  if (state === 'running' || state === 'waiting') {
    const params = {
      plugin: record.id,
      state: state === 'running' ? 'already running' : 'already loaded, and waiting',
    };
    throw new CinnabarError('CINNABAR_PLUGIN_STATE', params);
  }
  const loaded = await loadAnew(room, record);
  await settle(room);
  if (loaded.failure !== undefined) throw failureError(loaded.failure);
  return loaded;
}

async function loadAnew(room: LifecycleContext, record: PluginRecord): Promise<PluginRecord> {
  try {
    return await takeIn(room, record, await loadDefinition(room, record, true));
  } catch (error) {
    record.failure = failureOf(record.id, error);
    throw error;
  }
}

/** The report on a folder of that name, if there is one: it says more than that the plugin is unknown. */
function explain(wanted: string, broken: readonly CinnabarError[]): CinnabarError {
  const report = broken.find(({ params }) => {
    const place = String(params.place ?? '');
    return place === wanted || place.endsWith(`/${wanted}`);
  });
  return report ?? new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: wanted });
}

/**
 * Stops a plugin and forgets its code. Those that need it stop first, and wait.
 * @throws CINNABAR_PLUGIN_STATE, CINNABAR_PLUGIN_REQUIRED
 */
export async function unload(room: LifecycleContext, record: PluginRecord): Promise<UnloadReport> {
  if (stateOf(record) === 'stopped') {
    throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: record.id, state: 'not loaded' });
  }
  assertNotRequired(record);
  assertNoneRequired(room, record.id, arrangement(room, { id: record.id, by: undefined }).hindered);
  const leftovers = await stopWithDependents(room, record);
  release(record);
  await settle(room);
  return { leftovers };
}
