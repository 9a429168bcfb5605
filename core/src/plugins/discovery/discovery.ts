import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CinnabarError } from '@cinnabar/sdk';
import { bundledFolders } from './bundled.js';
import { inspectFolder } from './inspect.js';
import { installedPlugins } from './installed.js';

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
  /** Folders of the plugins that come with the host; by default those beside core. */
  readonly bundled?: readonly string[];
  /** Folders whose subfolders are plugins. */
  readonly folders: readonly string[];
  /** Folders with a package.json whose dependencies are looked at: the working directory, `<dataDir>/plugins`. */
  readonly packageRoots: readonly string[];
}

interface Candidate {
  readonly folder: string;
  readonly source: DiscoveredPlugin['source'];
}

/** Builds the search for plugins: bundled ones first, then configured folders, then installed packages. */
export function createDiscovery({ bundled, folders, packageRoots }: DiscoveryOptions): Discover {
  return async () => {
    const problems: CinnabarError[] = [];
    const report = (error: CinnabarError) => void problems.push(error);
    const candidates = [
      ...asCandidates('bundled', bundled ?? (await bundledFolders())),
      ...asCandidates('folder', (await Promise.all(folders.map((folder) => subfolders(folder, report)))).flat()),
      ...asCandidates('package', (await Promise.all(packageRoots.map(installedPlugins))).flat()),
    ];
    const inspected = await Promise.all(candidates.map((candidate) => inspect(candidate, report)));
    const plugins = withoutDuplicates(
      inspected.filter((plugin) => plugin !== undefined),
      report,
    );
    return { plugins, problems };
  };
}

function asCandidates(source: DiscoveredPlugin['source'], folders: readonly string[]): readonly Candidate[] {
  return folders.map((folder) => ({ folder, source }));
}

async function subfolders(folder: string, report: (error: CinnabarError) => void): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const visible = entries.filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules');
    return visible
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => join(folder, name))
      .sort();
  } catch (error) {
    report(unusable(folder, error));
    return [];
  }
}

async function inspect(
  { folder, source }: Candidate,
  report: (error: CinnabarError) => void,
): Promise<DiscoveredPlugin | undefined> {
  try {
    return await inspectFolder(await realpath(folder), source);
  } catch (error) {
    report(unusable(folder, error));
    return undefined;
  }
}

function withoutDuplicates(
  found: readonly DiscoveredPlugin[],
  report: (error: CinnabarError) => void,
): readonly DiscoveredPlugin[] {
  const byId = new Map<string, DiscoveredPlugin>();
  for (const plugin of found) {
    const first = byId.get(plugin.id);
    if (first === undefined) byId.set(plugin.id, plugin);
    else if (first.path !== plugin.path) {
      const params = { plugin: plugin.id, first: first.path, second: plugin.path };
      report(new CinnabarError('CINNABAR_PLUGIN_DUPLICATE', params));
    }
  }
  return [...byId.values()];
}

function unusable(place: string, error: unknown): CinnabarError {
  if (error instanceof CinnabarError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new CinnabarError('CINNABAR_PLUGIN_INVALID', { place, detail }, { cause: error });
}
