import { createRequire } from 'node:module';
import { types } from 'node:util';
import * as sdk from '@cinnabar/sdk';
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
  const load = (specifier: string): unknown => (specifier === '@cinnabar/sdk' ? sdk : own(resolve(specifier)));
  return Object.assign(load, { resolve, isModuleNamespace: types.isModuleNamespaceObject });
}

function fromSdk(): NodeJS.Require {
  return createRequire(import.meta.resolve('@cinnabar/sdk'));
}
