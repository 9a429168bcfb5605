import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runCached } from '../../bundling/code-cache.js';
import { inlineSourceMap, mapStackFrames } from '../../bundling/source-maps.js';
import { createPluginRequire, type SharedModule } from './plugin-require.js';
import { createPluginTimers, type PluginTimers, TIMER_NAMES } from './plugin-timers.js';

const timersByDefinition = new WeakMap<object, PluginTimers>();

/** The timers that a plugin's own code has set; `undefined` for a definition that no bundle has made. */
export function timersOf(definition: object): PluginTimers | undefined {
  return timersByDefinition.get(definition);
}

/**
 * Runs a bundle anew and returns what it exports. It is a script and no module of Node's: Node keeps every module that it loads, while a version
 * of a plugin can be collected as soon as nothing uses it.
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

/** The line that the bundler puts below the code. */
const SOURCE_MAP = '\n//# sourceMappingURL=';

/** What is run of a cache file. */
interface BundleScript {
  /** Without its source map, which would stay in memory with it. The bundler leaves characters beyond ASCII in regular expressions and raw templates as they are. */
  readonly code: string;
  /** What follows the code, as long as the file is the same. */
  readRest(): string;
}

/** Reads a cache file that `build` has found to hold. */
function readBundle(file: string): BundleScript {
  const content = readFileSync(file);
  const end = content.lastIndexOf(SOURCE_MAP);
  const code = content.toString('utf8', 0, end < 0 ? content.length : end);
  return {
    code,
    readRest() {
      const now = readFileSync(file, 'utf8');
      return now.startsWith(code) ? now.slice(code.length) : '';
    },
  };
}
