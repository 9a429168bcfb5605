import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createPluginRequire, type SharedModule } from './plugin-require.js';
import { createPluginTimers, type PluginTimers, TIMER_NAMES } from './plugin-timers.js';

/** Node drops a module's source map together with the module object: it is kept for as long as what the module exports is in use. */
const modules = new WeakMap<object, NodeJS.Module>();

const timersByDefinition = new WeakMap<object, PluginTimers>();

/** The timers that a plugin's own code has set; `undefined` for a definition that no bundle has made. */
export function timersOf(definition: object): PluginTimers | undefined {
  return timersByDefinition.get(definition);
}

/**
 * Runs a bundle anew and returns what it exports.
 *
 * Node keeps what it loads in three places: the cache of modules, the list of children of the module that asked, and the cache
 * of resolved names. A `require` made for this one load takes the last two along when it goes, and the first is emptied here:
 * so a version can be collected as soon as nobody uses it.
 * @param file the cache file
 * @param entry the plugin's entry file: its packages are resolved from there
 */
export function evaluate(file: string, entry: string, shared: SharedModule): unknown {
  const require = createRequire(file);
  const resolved = require.resolve(file);
  const load = () => {
    try {
      const run: unknown = require(resolved);
      return { run, loaded: require.cache[resolved] };
    } finally {
      delete require.cache[resolved];
    }
  };
  const { run, loaded } = load();
  if (typeof run !== 'function') throw new TypeError('the cache file holds no bundle');
  const module: { exports: unknown } = { exports: {} };
  const timers = createPluginTimers();
  const own = TIMER_NAMES.map((name) => timers.functions[name]);
  const pluginRequire = createPluginRequire(entry, shared, timers.functions);
  run(pluginRequire, module, module.exports, entry, dirname(entry), pathToFileURL(entry).href, ...own);
  const { exports } = module;
  const definition =
    typeof exports === 'object' && exports !== null && 'default' in exports ? exports.default : exports;
  if (typeof definition === 'object' && definition !== null) {
    if (loaded !== undefined) modules.set(definition, loaded);
    timersByDefinition.set(definition, timers);
  }
  return exports;
}
