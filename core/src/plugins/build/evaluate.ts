import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { exports as resolveExports } from 'resolve.exports';
import { hashOf, runCached } from '../../process/code-cache.js';
import { inlineSourceMap, mapStackFrames } from '../../process/source-maps.js';
import { createPluginTimers, type PluginTimers, TIMER_NAMES, type TimerFunctions } from './plugin-timers.js';

const timersByDefinition = new WeakMap<object, PluginTimers>();

/** The timers that the code of a plugin has set; `undefined` for a definition that was not made from a bundle. */
export function timersOf(definition: object): PluginTimers | undefined {
  return timersByDefinition.get(definition);
}

/**
 * Runs a bundle and returns its exports. The bundle is a script and not a Node module: Node keeps every loaded module in memory, while an old version of a
 * plugin must be garbage-collected.
 * @param file the cache file
 * @param entry the plugin's entry file: its packages are resolved from there
 */
export function evaluate(file: string, entry: string, shared: SharedModule): unknown {
  const { code, readRest } = readBundle(file);
  const run = runCached(code, file);
  mapStackFrames(file, () => inlineSourceMap(readRest()));
  if (typeof run !== 'function') throw new TypeError('the cache file holds no bundle');
  const module: { exports: unknown } = { exports: {} };
  const timers = createPluginTimers();
  const own = TIMER_NAMES.map((name) => timers.functions[name]);
  const pluginRequire = createPluginRequire(entry, shared, timers.functions);
  run(pluginRequire, module, module.exports, entry, dirname(entry), pathToFileURL(entry).href, ...own);
  const { exports } = module;
  const definition =
    typeof exports === 'object' && exports !== null && 'default' in exports ? exports.default : exports;
  if (typeof definition === 'object' && definition !== null) timersByDefinition.set(definition, timers);
  return exports;
}

/** The line that the bundler appends to the code. */
const SOURCE_MAP = '\n//# sourceMappingURL=';

/** The executed part of a cache file. */
interface BundleScript {
  /**
   * The code without its source map, which would stay in memory with it. Bytes, since it may have characters beyond ASCII in regular expressions and raw
   * templates.
   */
  readonly code: Buffer;
  /** The text after the code, as long as the file is unchanged. */
  readRest(): string;
}

/** Reads a cache file that `build` has found to be up to date. */
function readBundle(file: string): BundleScript {
  const content = readFileSync(file);
  const end = content.lastIndexOf(SOURCE_MAP);
  const code = end < 0 ? content : content.subarray(0, end);
  const { length } = code;
  const hash = hashOf(code);
  return {
    code,
    readRest() {
      const now = readFileSync(file);
      return hashOf(now.subarray(0, length)).equals(hash) ? now.toString('utf8', length) : '';
    },
  };
}

/** The `require` that a bundle runs with. */
interface PluginRequire {
  (specifier: string): unknown;
  resolve(specifier: string): string;
  /** Whether the whole exports of a module are its default import. Called by the bundler's helper: see `respectModuleNamespaces`. */
  isWhole(isNodeMode: unknown, exports: unknown): boolean;
}

/** Dependencies of the SDK that a plugin can import without having them in its own node_modules. */
const LENT = /^(discord\.js|zod)(\/|$)/;

const TIMERS_MODULE = /^(?:node:)?timers$/;

/** Returns a module that the host has loaded and shares with its plugins; `undefined` for any other. */
export type SharedModule = (specifier: string, resolve: () => string) => unknown;

/**
 * Builds the `require` of one plugin: modules that `shared` returns come from the host, all others are resolved from the plugin's folder, so that each plugin
 * has its own versions of its dependencies.
 * @param entry the plugin's entry file
 * @param timers the replacement for `node:timers`
 */
function createPluginRequire(entry: string, shared: SharedModule, timers: TimerFunctions): PluginRequire {
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
    return shared(specifier, resolved) ?? own(compiled(specifier, resolved()));
  };
  return Object.assign(load, { resolve, isWhole });
}

function isWhole(isNodeMode: unknown, exports: unknown): boolean {
  if (isNodeMode) return !types.isModuleNamespaceObject(exports);
  return exports == null || !Reflect.get(Object(exports), '__esModule');
}

/** Checks that the file of a package is JavaScript: Node compiles no TypeScript below `node_modules`. @throws Error otherwise */
function compiled(specifier: string, file: string): string {
  if (!/\.[cm]?tsx?$/.test(file)) return file;
  throw new Error(
    `it imports "${specifier}", which is TypeScript that nothing has compiled (${file}): a package has to be published as JavaScript; otherwise copy what you need of it into the plugin`,
  );
}

function fromSdk(): NodeJS.Require {
  return createRequire(createRequire(import.meta.url).resolve('@cinnabar/sdk'));
}

interface Manifest {
  readonly name: string;
  readonly exports?: unknown;
}

/** `@scope/name/sub/path` as its package and the rest. */
const SPECIFIER = /^((?:@[^/]+\/)?[^/.][^/]*)(\/.*)?$/;

/**
 * Finds the file of a package that only supports `import`. Node's `require` ignores that condition, although it can load the file.
 * @returns `undefined` when there is no such package
 */
function resolveModuleOnly(specifier: string, from: string): string | undefined {
  const [, name, subpath = ''] = SPECIFIER.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const folder = findPackage(name, dirname(from));
  if (folder === undefined) return undefined;
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (!isManifest(manifest)) return undefined;
  const [file] = exportedFiles(manifest, `.${subpath}`);
  return file === undefined ? undefined : join(folder, file);
}

/** The folder of an installed package, found as Node does: in each `node_modules` on the way up. */
export function findPackage(name: string, from: string): string | undefined {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(from);
  return parent === from ? undefined : findPackage(name, parent);
}

/** The file that a package's `exports` name for a path and the condition `import`; nothing when it has none or does not export the path. */
export function exportedFiles(manifest: Manifest, path: string): readonly string[] {
  try {
    return resolveExports(manifest, path) ?? [];
  } catch {
    return [];
  }
}

/** Checked without zod, so that a worker thread starts in half of the time. */
function isManifest(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}
