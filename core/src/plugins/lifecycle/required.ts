import { CinnabarError } from '@cinnabar/sdk';
import type { Hindrance } from '../order.js';
import type { PluginRecord } from './records.js';
import type { LifecycleContext } from './room.js';

/** @throws CINNABAR_PLUGIN_REQUIRED when nobody could get back in without the plugin */
export function assertNotRequired({ id, manifest }: PluginRecord): void {
  if (manifest.required !== true) return;
  throw new CinnabarError('CINNABAR_PLUGIN_REQUIRED', {
    plugin: id,
    detail: 'without it nobody could switch it on again.',
  });
}

/**
 * @param hindered who could not run after a change of the plugin `id`
 * @throws CINNABAR_PLUGIN_REQUIRED when one that is required and runs would be among them
 */
export function assertNoneRequired(
  { records }: Pick<LifecycleContext, 'records'>,
  id: string,
  hindered: ReadonlyMap<string, Hindrance>,
): void {
  for (const dependent of hindered.keys()) {
    const record = records.get(dependent);
    if (record?.run === undefined || record.manifest.required !== true) continue;
    throw new CinnabarError('CINNABAR_PLUGIN_REQUIRED', { plugin: id, detail: `"${dependent}" needs it.` });
  }
}
