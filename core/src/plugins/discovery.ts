import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CinnabarError, z } from '@cinnabar/sdk';
import type { HostConfig } from '../config/host-config.js';
import { exportedFiles, findPackage } from './build/evaluate.js';
import { findInstalled } from './install/installed.js';

/** A plugin's place on the disk, before any of its code has run. */
export interface DiscoveredPlugin {
  /** From the package or folder name; the manifest's id replaces it once it is loaded. */
  readonly id: string;
  readonly source: 'bundled' | 'folder' | 'package';
  /** Its folder, symbolic links resolved. */
  readonly path: string;
  /** The file that exports it. */
  readonly entry: string;
  readonly version: string;
  readonly description: string;
  /** Whether its package.json has `"cinnabar": { "guard": true }`: the plugin is a guard even before it is built for the first time. */
  readonly guard: boolean;
  /** The id under which the plugin was installed. A version with another id in its manifest is refused. */
  readonly pinnedId?: string;
}

export interface Discovery {
  readonly plugins: readonly DiscoveredPlugin[];
  /** Entries that cannot be used, and duplicate ids (the first is kept). */
  readonly problems: readonly CinnabarError[];
}

/** Reads the disk again each time. Never rejects. */
export type Discover = () => Promise<Discovery>;

interface DiscoveryOptions {
  /** Folders of the plugins that come with the host; by default those beside core. */
  readonly bundled?: readonly string[];
  /** Folders whose subfolders are plugins, or that are plugins themselves. */
  readonly folders: readonly string[];
  /** Folders with a package.json whose dependencies are searched: the working directory, `<dataDir>/plugins`. */
  readonly packageRoots: readonly string[];
  /** The data folder of the bot whose installed plugins are searched. */
  readonly installedIn?: string;
}

interface Candidate {
  readonly folder: string;
  readonly source: DiscoveredPlugin['source'];
  readonly pinnedId?: string;
}

/** The search for a bot's plugins. */
export function discoveryOf({
  root,
  dataDir,
  installDir = dataDir,
  pluginFolders,
}: Pick<HostConfig, 'root' | 'dataDir' | 'installDir' | 'pluginFolders'>): Discover {
  return createDiscovery({
    folders: pluginFolders,
    packageRoots: [root, join(installDir, 'plugins')],
    installedIn: installDir,
  });
}

/**
 * Builds the search for plugins: bundled ones first, then configured folders, then packages, then those that were installed as plugins. The search reads some
 * hundred small files synchronously: through Node's thread pool, each would cost several times as much processor time.
 */
export function createDiscovery({ bundled, folders, packageRoots, installedIn }: DiscoveryOptions): Discover {
  return async () => {
    const problems: CinnabarError[] = [];
    const report = (error: CinnabarError) => void problems.push(error);
    const installed = installedIn === undefined ? undefined : await findInstalled(installedIn);
    problems.push(...(installed?.problems ?? []));
    const candidates: readonly Candidate[] = [
      ...asCandidates('bundled', bundled ?? bundledFolders()),
      ...asCandidates(
        'folder',
        folders.flatMap((folder) => pluginsIn(folder, report)),
      ),
      ...asCandidates('package', packageRoots.flatMap(installedPlugins)),
      ...(installed?.found ?? []).map(({ id, folder }) => ({ folder, source: 'package', pinnedId: id }) as const),
    ];
    const inspected = candidates.map((candidate) => inspect(candidate, report));
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

/** The plugins in a configured folder: its subfolders, or the folder itself when it is one. */
function pluginsIn(folder: string, report: (error: CinnabarError) => void): readonly string[] {
  try {
    if (isPlugin(folder)) return [folder];
    const entries = readdirSync(folder, { withFileTypes: true });
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

/** Whether a folder is a plugin's: its package.json has the keyword, or it has an index file and no package.json. */
function isPlugin(folder: string): boolean {
  try {
    const file = readPackageFile(folder);
    return file === undefined
      ? INDEX_FILES.some((name) => isFile(join(folder, name)))
      : file.keywords.includes(KEYWORD);
  } catch {
    return false;
  }
}

function inspect(
  { folder, source, pinnedId }: Candidate,
  report: (error: CinnabarError) => void,
): DiscoveredPlugin | undefined {
  try {
    return inspectFolder(realpathSync.native(folder), source, pinnedId);
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

const INDEX_FILES = ['index.ts', 'index.mts', 'index.js', 'index.mjs', 'index.cts', 'index.cjs'];
/** The part of a package's name before the plugin's id: `@cinnabar/plugin-party`, `cinnabar-plugin-weather`, `@someone/cinnabar-plugin-weather`. */
export const PACKAGE_PREFIX = /^(@[^/]+\/)?(cinnabar-)?(plugin-|example-)?/;

/**
 * Reads a folder's description of its plugin.
 * @param folder its path, symbolic links resolved
 * @param pinnedId the id under which it was installed
 * @throws CINNABAR_PLUGIN_INVALID when it is not a plugin
 */
export function inspectFolder(folder: string, source: DiscoveredPlugin['source'], pinnedId?: string): DiscoveredPlugin {
  const file = readPackageFile(folder);
  return {
    ...(pinnedId === undefined ? {} : { pinnedId }),
    id: pinnedId ?? ((file?.name ?? basename(folder)).replace(PACKAGE_PREFIX, '').toLowerCase() || basename(folder)),
    source,
    path: folder,
    entry: findEntry(folder, file),
    version: file?.version ?? '0.0.0',
    description: file?.description ?? '',
    guard: file?.cinnabar?.guard ?? false,
  };
}

function findEntry(folder: string, file: PackageFile | undefined): string {
  const exported = file === undefined ? [] : exportedFiles({ ...file, name: file.name ?? '' }, '.');
  const declared = exported[0] ?? file?.main;
  for (const name of declared === undefined ? INDEX_FILES : [declared]) {
    const entry = join(folder, name);
    if (isFile(entry)) return withinFolder(folder, entry);
  }
  const detail =
    declared === undefined
      ? 'it has neither an index file (index.ts, index.js, …) nor a package.json that names one'
      : `its package.json names ${declared}, which is not there`;
  throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: folder, detail });
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

function withinFolder(folder: string, entry: string): string {
  const real = realpathSync.native(entry);
  if (!relative(folder, real).startsWith('..')) return real;
  const detail = `its entry file ${entry} is outside of its folder`;
  throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: folder, detail });
}

const names = z.record(z.string(), z.unknown()).default({});
const packageSchema = z.object({
  name: z.string().optional(),
  version: z.string().default('0.0.0'),
  description: z.string().default(''),
  main: z.string().optional(),
  exports: z.unknown().optional(),
  keywords: z.array(z.string()).default([]),
  dependencies: names,
  optionalDependencies: names,
  cinnabar: z.object({ guard: z.boolean().default(false) }).optional(),
});
type PackageFile = z.output<typeof packageSchema>;

/** Files that were read before, with their state then: that of a plugin is needed several times at a start, and again at each reload. */
const read = new Map<string, { readonly state: string; readonly file: PackageFile }>();

/** More than the resolution of a file's times on any file system in use. */
const TICK_MS = 2_000;

/**
 * Reads a folder's package.json; `undefined` when it has none.
 * @throws Error in plain words when it cannot be read or is malformed
 */
function readPackageFile(folder: string): PackageFile | undefined {
  const path = join(folder, 'package.json');
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const state = `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
  const known = read.get(path);
  if (known?.state === state) return known.file;
  const parsed = packageSchema.safeParse(parseJson(readFileSync(path, 'utf8')));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`its package.json is not right: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
  }
  // Not cached when it was written just now: it may be written again within the same tick of the file system's clock.
  if (Date.now() - stats.mtimeMs > TICK_MS) read.set(path, { state, file: parsed.data });
  return parsed.data;
}

/** Like `readPackageFile`; also `undefined` when the file cannot be used. */
function readableManifest(folder: string): PackageFile | undefined {
  try {
    return readPackageFile(folder);
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`its package.json is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The keyword that marks a package as a plugin. */
export const KEYWORD = 'cinnabar-plugin';

/**
 * The folders of plugins among the direct dependencies of a project. The rest of `node_modules` is not searched.
 * @param root a folder with a package.json; without one it has no plugins
 */
function installedPlugins(root: string): readonly string[] {
  const project = readableManifest(root);
  if (project === undefined) return [];
  const names = Object.keys({ ...project.dependencies, ...project.optionalDependencies });
  return names.map((name) => pluginFolder(name, root)).filter((folder) => folder !== undefined);
}

function pluginFolder(name: string, root: string): string | undefined {
  const folder = findPackage(name, root);
  if (folder === undefined) return undefined;
  const file = readableManifest(folder);
  return file?.keywords.includes(KEYWORD) ? folder : undefined;
}

/**
 * The folders of the plugins that come with the host: `plugins/*` beside core in the source tree, and the packages
 * `@cinnabar/plugin-*` beside core where it is installed.
 */
export function bundledFolders(): readonly string[] {
  const beside = dirname(packageFolder(dirname(fileURLToPath(import.meta.url))));
  return [
    ...folderNames(join(beside, 'plugins')).map((name) => join(beside, 'plugins', name)),
    ...folderNames(beside)
      .filter((name) => name.startsWith('plugin-'))
      .map((name) => join(beside, name)),
  ];
}

function packageFolder(folder: string): string {
  if (readableManifest(folder)?.name === '@cinnabar/core') return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('core cannot find its own package.json');
  return packageFolder(parent);
}

function folderNames(folder: string): readonly string[] {
  return entriesIn(folder)
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
