import type { CinnabarError } from '@cinnabar/sdk';

/** A plugin's place on disk, before anything of it has run. */
export interface DiscoveredPlugin {
  /** From the package or folder name; the manifest has the last word once it is loaded. */
  readonly id: string;
  readonly source: 'bundled' | 'folder' | 'package';
  /** Its folder, symbolic links resolved. */
  readonly path: string;
  /** The file that exports it. */
  readonly entry: string;
  readonly version: string;
  readonly description: string;
  /** `"cinnabar": { "guard": true }` in its package.json: a guard even when it has never been built. */
  readonly guard: boolean;
}

export interface Discovery {
  readonly plugins: readonly DiscoveredPlugin[];
  /** Entries that cannot be used, and ids that are there twice (the first is kept). */
  readonly problems: readonly CinnabarError[];
}

/** Looks at the disk anew each time. Never rejects. */
export type Discover = () => Promise<Discovery>;

export interface DiscoveryOptions {
  /** Folders whose subfolders are plugins that come with the host; by default those beside core. */
  readonly bundled?: readonly string[];
  /** Folders whose subfolders are plugins. */
  readonly folders: readonly string[];
  /** Folders with a package.json whose dependencies are looked at: the working directory, `<dataDir>/plugins`. */
  readonly packageRoots: readonly string[];
}
