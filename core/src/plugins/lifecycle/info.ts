import type { PluginInfo } from '@cinnabar/sdk';
import { failureError, type PluginRecord, stateOf } from './records.js';
import type { LifecycleContext } from './room.js';
import { injectedTokens } from './tokens.js';
import { waitingFor } from './waiting.js';

/** A plugin as `Plugins.list` shows it. */
export function infoOf(room: LifecycleContext, record: PluginRecord): PluginInfo {
  const { id, manifest, origin, definition, run } = record;
  const { needs, likes } = definition === undefined ? { needs: [], likes: [] } : injectedTokens(definition);
  const problem = problemOf(room, record);
  return {
    id,
    manifest,
    state: stateOf(record),
    source: origin.source,
    path: origin.path,
    ...(problem === undefined ? {} : { problem }),
    env: Object.keys(definition?.env?.shape ?? {}),
    provides: definition?.provides.map((token) => token.id) ?? [],
    injects: [...needs, ...likes],
    effects: run?.owner.scope.effects ?? [],
  };
}

/** Why it failed, or what it waits for; `undefined` when it runs or is not loaded. */
export function problemOf(room: LifecycleContext, record: PluginRecord): string | undefined {
  const state = stateOf(record);
  if (state === 'waiting') return waitingFor(room, record);
  return record.failure === undefined || state === 'running' ? undefined : failureError(record.failure).message;
}
