import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Few imports: this is read before anything else of the host.

/** `core`, with `dist` in it. */
export const CORE = fileURLToPath(new URL('../../', import.meta.url));
/** The folder with `core` and `sdk`: the source tree, or the packages' scope where they are installed. */
export const WORKSPACE = join(CORE, '..');
/** Installed packages have no sources. */
export const IS_SOURCE_TREE = existsSync(join(CORE, 'src'));
/** Where the source tree has its bundle. */
export const BUNDLE_DIR = join(CORE, 'dist', 'bundle');
/** The folder of the bundle. That of installed packages is in the cache: the bot may write only to its data folder, and other bots may use the same packages. */
export const bundleDirOf = (buildCacheDir: string): string =>
  IS_SOURCE_TREE ? BUNDLE_DIR : join(buildCacheDir, 'host');
/** The folder of the plugin bundles that were built with a host bundle. For installed packages it is the folder that the first start uses, beside the host bundle. */
export const builtPluginsIn = (dir: string): string =>
  IS_SOURCE_TREE ? join(dir, 'plugins') : join(dir, '..', 'plugins');
export const recordIn = (dir: string): string => join(dir, 'built.json');
/** The parameters of the function that a bundle consists of. */
export const PARAMETERS = 'exports, require, module, __filename, __dirname, __launcher';

/** The record of a bundle: its files, and the state of its sources when it was built. */
export interface Built {
  /** In the folder of the bundle. */
  readonly script: string;
  readonly node: string;
  /** Newer sources are not in the bundle. In ms since 1970. */
  readonly at: number;
  /** The result of `markOf` for each of `WATCHED`. */
  readonly marks: readonly string[];
  /** Bundles of the plugins that come with the host, in the folder of the bundle, by entry file from the workspace. */
  readonly plugins: Readonly<Record<string, string>>;
  /** Folders of sources and their times in ms. */
  readonly folders: readonly (readonly [path: string, mtimeMs: number])[];
}

/** Files that change whenever the compiler or npm has changed a part of the bundle. */
export const WATCHED = (
  IS_SOURCE_TREE
    ? [
        'core/tsconfig.tsbuildinfo',
        'sdk/tsconfig.tsbuildinfo',
        'core/package.json',
        'sdk/package.json',
        'node_modules/.package-lock.json',
      ]
    : ['core/package.json', 'sdk/package.json', '../.package-lock.json']
).map((path) => join(WORKSPACE, path));

/** A file's time and size, to notice a change. The time is in whole seconds, because container images store no fractions. */
export function markOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return '';
  const seconds = (ms: number) => Math.floor(ms / 1000);
  if (IS_SOURCE_TREE) return `${seconds(found.mtimeMs)} ${found.size}`;
  // All files of packed packages have a modification time in 1985. The bundle is outside of the packages, so the path has to match, too.
  return `${file} ${seconds(found.ctimeMs)} ${found.size}`;
}

/** The current bundle; `undefined` when there is none, or when its sources were compiled again since. */
export function findBuilt(dir: string = BUNDLE_DIR): Built | undefined {
  try {
    const built: Built = JSON.parse(readFileSync(recordIn(dir), 'utf8'));
    const holds = built.node === process.versions.node && WATCHED.every((file, at) => markOf(file) === built.marks[at]);
    return holds ? built : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the next start build the host again. Without effect where the folder cannot be written: an image is rebuilt as a whole. */
export function forgetBuilt(dir: string): void {
  try {
    rmSync(recordIn(dir), { force: true });
  } catch {}
}

/**
 * Whether no source file has been added, removed, renamed or replaced since the build, by the times of their folders. Does not detect a file that was written
 * in place.
 */
export function areFoldersSame({ folders }: Pick<Built, 'folders'>): boolean {
  return folders.every(
    ([path, mtimeMs]) =>
      Math.floor(statSync(join(WORKSPACE, path), { throwIfNoEntry: false })?.mtimeMs ?? -1) === mtimeMs,
  );
}
