import { createRequire } from 'node:module';
import { types } from 'node:util';
import type { TimerFunctions } from './plugin-timers.js';
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

const TIMERS_MODULE = /^(?:node:)?timers$/;

/** A module that the host has loaded already, and that its plugins share with it; `undefined` for any other file. */
export type SharedModule = (specifier: string, resolve: () => string) => unknown;

/**
 * Builds the `require` of one plugin: what `shared` knows is the host's own module, everything else is resolved from the plugin's
 * folder, so that each plugin has the versions of its own dependencies.
 * @param entry the plugin's entry file
 * @param timers what `node:timers` is to it
 */
export function createPluginRequire(entry: string, shared: SharedModule, timers: TimerFunctions): PluginRequire {
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
    if (TIMERS_MODULE.test(specifier)) return { ...timers };
    const resolved = () => resolve(specifier);
    return shared(specifier, resolved) ?? own(resolved());
  };
  return Object.assign(load, { resolve, isModuleNamespace: types.isModuleNamespaceObject });
}

function fromSdk(): NodeJS.Require {
  return createRequire(createRequire(import.meta.url).resolve('@cinnabar/sdk'));
}
