import { CinnabarError, type Plugin } from '@cinnabar/sdk';
import { during } from '../process/errors.js';
import { build } from './build/build.js';
import { type CachedBundle, readCacheFile } from './build/cache-file.js';
import { evaluate } from './build/evaluate.js';
import { sharedModule } from './build/shared-modules.js';
import type { DiscoveredPlugin } from './discovery.js';
import { validatePlugin } from './validate.js';

/** Turns a folder into a validated plugin definition. */
export interface PluginLoader {
  /**
   * Builds (or takes from the cache), evaluates and validates a plugin. Each call evaluates it anew.
   * @param options.verify compares the content of every input with the cache, not only its time and size
   * @throws CINNABAR_PLUGIN_BUILD, CINNABAR_PLUGIN_INVALID, CINNABAR_PLUGIN_HOST_VERSION
   */
  load(found: DiscoveredPlugin, options?: { readonly verify?: boolean }): Promise<Plugin>;
}

/** Bundles of plugins that were built ahead, and that nothing has changed since. */
export interface BuiltPlugins {
  /** By entry file. */
  readonly files: ReadonlyMap<string, string>;
  /** A plugin is another by now. */
  readonly onChange: () => void;
}

export interface LoaderOptions {
  readonly builtPlugins?: BuiltPlugins | undefined;
  /** `<dataDir>/cache/plugins` */
  readonly cacheDir: string;
  /** Semantic version that manifests' `host` ranges are held against. */
  readonly hostVersion: string;
}

/** Builds the loader. Stack traces point at the TypeScript line of the plugins that it loads. */
export function createLoader({ cacheDir, hostVersion, builtPlugins }: LoaderOptions): PluginLoader {
  const ahead = new Map(builtPlugins?.files);
  const find = async (found: DiscoveredPlugin, verify: boolean): Promise<string> => {
    const known = ahead.get(found.entry);
    if (known !== undefined && !verify) return known;
    const file = await build(found, { cacheDir, hostVersion, verify });
    if (known !== undefined) {
      const [before, now] = await Promise.all([known, file].map(readCacheFile));
      if (before !== undefined && now !== undefined && isMadeOfTheSame(before, now)) return known;
      ahead.delete(found.entry);
      builtPlugins?.onChange();
    }
    return file;
  };
  return {
    async load(found, { verify = false } = {}) {
      const file = await find(found, verify);
      return validatePlugin(run(file, found), found.path, hostVersion);
    },
  };
}

/** The code is no measure: the source map in it names the sources as seen from the cache file. */
function isMadeOfTheSame(one: CachedBundle, other: CachedBundle): boolean {
  const madeOf = ({ madeBy, inputs }: CachedBundle) =>
    [madeBy, ...inputs.map(({ path, hash }) => `${hash} ${path}`).sort()].join('\n');
  return madeOf(one) === madeOf(other);
}

function run(file: string, { id, path, entry }: DiscoveredPlugin): unknown {
  try {
    return during(id, 'loading', () => evaluate(file, entry, sharedModule));
  } catch (error) {
    if (error instanceof CinnabarError) throw error;
    const [detail] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: path, detail: detail ?? '' }, { cause: error });
  }
}
