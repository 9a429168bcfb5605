import type { Plugin } from '@cinnabar/sdk';
import type { DiscoveredPlugin } from './discovery.js';

/** Turns a folder into a validated plugin definition. */
export interface PluginLoader {
  /**
   * Builds (or takes from the cache), evaluates and validates a plugin. Each call evaluates it anew.
   * @param options.verify compares the content of every input with the cache, not only its time and size
   * @throws CINNABAR_PLUGIN_BUILD, CINNABAR_PLUGIN_INVALID, CINNABAR_PLUGIN_HOST_VERSION
   */
  load(found: DiscoveredPlugin, options?: { readonly verify?: boolean }): Promise<Plugin>;
}

export interface LoaderOptions {
  /** `<dataDir>/cache/plugins` */
  readonly cacheDir: string;
  /** Semantic version that manifests' `host` ranges are held against. */
  readonly hostVersion: string;
}
