import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Few imports: this is read before anything else of the host.

/** `core`, with `dist` in it. */
export const CORE = fileURLToPath(new URL('../../', import.meta.url));
/** The folder with `core` and `sdk`: the source tree, or the packages' scope where they are installed. */
export const WORKSPACE = join(CORE, '..');
export const BUNDLE_DIR = join(CORE, 'dist', 'bundle');
export const RECORD = join(BUNDLE_DIR, 'built.json');
/** What the bundle is called with. */
export const PARAMETERS = 'exports, require, module, __filename, __dirname, __launcher';

/** What the bundle was made from. */
export interface Built {
  /** In the folder of the bundle. */
  readonly script: string;
  readonly node: string;
  /** In ms: sources that are newer are not in it. */
  readonly at: number;
  /** Of each of `WATCHED`: its time and size. */
  readonly marks: readonly string[];
  /** Bundles of the plugins that come with the host, in the folder of the bundle, by entry file from the workspace. */
  readonly plugins: Readonly<Record<string, string>>;
  /** Folders of sources and their times in ms. */
  readonly folders: readonly (readonly [path: string, mtimeMs: number])[];
}

/** Files that change whenever the compiler or npm has changed anything that goes into the bundle. */
export const WATCHED = [
  'core/tsconfig.tsbuildinfo',
  'sdk/tsconfig.tsbuildinfo',
  'core/package.json',
  'sdk/package.json',
  'node_modules/.package-lock.json',
].map((path) => join(WORKSPACE, path));

/** Whole seconds: images keep no more of a time. */
export function markOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${Math.floor(found.mtimeMs / 1000)} ${found.size}`;
}

/** The bundle as it was built; `undefined` when there is none, or when what it was made of has been built anew since. */
export function findBuilt(): Built | undefined {
  try {
    const built: Built = JSON.parse(readFileSync(RECORD, 'utf8'));
    const holds = built.node === process.versions.node && WATCHED.every((file, at) => markOf(file) === built.marks[at]);
    return holds ? built : undefined;
  } catch {
    return undefined;
  }
}

/** From the next start on, the host is built anew, unless its folder cannot be written: an image is built anew as a whole. */
export function forgetBuilt(): void {
  try {
    rmSync(RECORD, { force: true });
  } catch {}
}

/**
 * Whether no file of the sources has been added, removed, renamed or replaced since, as far as their folders tell. A file that was written in
 * place does not show here.
 */
export function areFoldersSame({ folders }: Pick<Built, 'folders'>): boolean {
  return folders.every(
    ([path, mtimeMs]) =>
      Math.floor(statSync(join(WORKSPACE, path), { throwIfNoEntry: false })?.mtimeMs ?? -1) === mtimeMs,
  );
}
