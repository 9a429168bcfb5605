import { createScope } from '@cinnabar/core/internal/plugins/scope';
import { definePlugin, type Logger, type Manifest, type Plugin } from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { recordingLogger } from './logs.js';

/** The environment of a plugin's run. */
interface Surroundings {
  readonly clock?: ManualClock;
  readonly log?: ReturnType<typeof recordingLogger>;
}

/** One run of a plugin, for the registries. */
export function runOf(plugin: Plugin, { clock = createManualClock(), log = recordingLogger() }: Surroundings = {}) {
  const { id } = plugin.manifest;
  return { id, plugin, scope: createScope({ plugin: id, clock }), log };
}
/** A run with any logger. */
export type Run = Omit<ReturnType<typeof runOf>, 'log'> & { readonly log: Logger };

/** One run of an empty plugin. */
export function ownerOf(id: string, manifest: Partial<Manifest> = {}, surroundings: Surroundings = {}) {
  const plugin = definePlugin({
    manifest: { id, version: '1.0.0', description: `The ${id} plugin`, ...manifest },
    setup: () => undefined,
  });
  return runOf(plugin, surroundings);
}
