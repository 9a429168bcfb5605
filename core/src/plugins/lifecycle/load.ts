import { CinnabarError, type Plugin, withinLimit } from '@cinnabar/sdk';
import { adopt, failureError, failureOf, type PluginRecord } from './records.js';
import type { LifecycleContext } from './room.js';

/**
 * Evaluates a plugin's newest version, within the room's start time. Changes nothing.
 * @throws what `Origin.load` throws, or CINNABAR_PLUGIN_TIMEOUT
 */
export async function loadDefinition(
  { clock, startTimeoutMs, ending }: Pick<LifecycleContext, 'clock' | 'startTimeoutMs' | 'ending'>,
  { id, origin }: Pick<PluginRecord, 'id' | 'origin'>,
  verify: boolean,
): Promise<Plugin> {
  const loaded = await withinLimit(clock, startTimeoutMs, origin.load(verify), ending);
  if (loaded.inTime) return loaded.value;
  if (ending.aborted) throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: id, state: 'stopping' });
  throw new CinnabarError('CINNABAR_PLUGIN_TIMEOUT', { plugin: id, seconds: startTimeoutMs / 1000, step: 'load' });
}

/**
 * Makes a loaded definition, or the failure to load one, part of the record. The id that the manifest names holds from now on.
 * @throws CINNABAR_PLUGIN_DUPLICATE when another plugin has that id
 */
export async function takeIn(room: LifecycleContext, record: PluginRecord, definition: Plugin): Promise<PluginRecord> {
  const named = renamed(room, record, definition.manifest.id);
  // What guarded under the name of its folder guards under its own from now on.
  if (named !== record) await room.guards.note({ ...record.manifest, guard: false });
  await room.guards.note(definition.manifest);
  adopt(named, definition);
  return named;
}

/** Notes why a plugin could not be loaded or started. */
export function noteFailure(room: LifecycleContext, record: PluginRecord, error: unknown): void {
  record.failure = failureOf(record.id, error);
  room.log.error(failureError(record.failure).message, { plugin: record.id, error });
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
