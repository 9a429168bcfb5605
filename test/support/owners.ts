import { createScope } from '@cinnabar/core/internal/plugins/scope';
import { definePlugin, type Manifest } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { recordingLogger } from './logs.js';

/** One run of an empty plugin, as the registries see it. */
export function ownerOf(id: string, manifest: Partial<Manifest> = {}) {
  const log = recordingLogger();
  return {
    id,
    plugin: definePlugin({ manifest: { id, version: '1.0.0', description: id, ...manifest }, setup: () => undefined }),
    scope: createScope({ plugin: id, clock: createManualClock() }),
    log,
  };
}
