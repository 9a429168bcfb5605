import { createRequire } from 'node:module';
import { types } from 'node:util';
import * as sdk from '@cinnabar/sdk';
import * as zod from 'zod';
import { resolveModuleOnly } from './resolve-package.js';

/** The `require` that a bundle runs with. */
export interface PluginRequire {
  (specifier: string): unknown;
  resolve(specifier: string): string;
  /** For the bundle's own helper; see `interop.ts`. */
  isModuleNamespace(value: unknown): boolean;
}

/** The SDK's own dependencies: a folder without node_modules can import them all the same. */
const LENT = /^(discord\.js|zod)(\/|$)/;

const core = createRequire(import.meta.url);

/**
 * Builds the `require` of one plugin: `@cinnabar/sdk` is the host's own module, everything else is resolved from the plugin's
 * folder, so that each plugin has the versions of its own dependencies.
 * @param entry the plugin's entry file
 */
export function createPluginRequire(entry: string): PluginRequire {
  const own = createRequire(entry);

  const resolve = (specifier: string): string => {
    try {
      return own.resolve(specifier);
    } catch (error) {
      const elsewhere =
        resolveModuleOnly(specifier, entry) ?? (LENT.test(specifier) ? fromSdk().resolve(specifier) : undefined);
      if (elsewhere === undefined) throw error;
      return elsewhere;
    }
  };
  const load = (specifier: string): unknown => {
    if (specifier === '@cinnabar/sdk') return sdk;
    const file = resolve(specifier);
    // `require` would load the same zod a second time, as CommonJS, and schemas would know nothing of each other's registries.
    return specifier === 'zod' && file === core.resolve('zod') ? zod : own(file);
  };
  return Object.assign(load, { resolve, isModuleNamespace: types.isModuleNamespaceObject });
}

function fromSdk(): NodeJS.Require {
  return createRequire(import.meta.resolve('@cinnabar/sdk'));
}
