import { createLoader } from '@cinnabar/core/internal/plugins/loader';

/** Files that were built ahead, by the entry of their plugin; `onChange` is called for one whose sources are others by now. */
interface BuiltAhead {
  readonly files: ReadonlyMap<string, string>;
  readonly onChange: () => void;
}

/** What builds plugins into a folder, and evaluates them, in a host 0.1.0. */
export function loaderIn(cacheDir: string, builtPlugins?: BuiltAhead) {
  return createLoader({ cacheDir, hostVersion: '0.1.0', ...(builtPlugins === undefined ? {} : { builtPlugins }) });
}
