import { realpath, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { CinnabarError } from '@cinnabar/sdk';
import { exportedFiles } from '../build/resolve-package.js';
import type { DiscoveredPlugin } from './discovery.js';
import { type PackageFile, readPackageFile } from './package-file.js';

const INDEX_FILES = ['index.ts', 'index.mts', 'index.js', 'index.mjs', 'index.cts', 'index.cjs'];
/** `@cinnabar/plugin-party`, `cinnabar-plugin-weather`, `@someone/cinnabar-plugin-weather`: the id is what follows. */
const PACKAGE_PREFIX = /^(@[^/]+\/)?(cinnabar-)?(plugin-|example-)?/;

/**
 * Reads what a folder says of itself.
 * @param folder its path, symbolic links resolved
 * @throws CINNABAR_PLUGIN_INVALID when it is no plugin
 */
export async function inspectFolder(folder: string, source: DiscoveredPlugin['source']): Promise<DiscoveredPlugin> {
  const file = await readPackageFile(folder);
  return {
    id: (file?.name ?? basename(folder)).replace(PACKAGE_PREFIX, '').toLowerCase() || basename(folder),
    source,
    path: folder,
    entry: await findEntry(folder, file),
    version: file?.version ?? '0.0.0',
    description: file?.description ?? '',
    guard: file?.cinnabar?.guard ?? false,
  };
}

async function findEntry(folder: string, file: PackageFile | undefined): Promise<string> {
  const exported = file === undefined ? [] : exportedFiles({ ...file, name: file.name ?? '' }, '.');
  const declared = exported[0] ?? file?.main;
  for (const name of declared === undefined ? INDEX_FILES : [declared]) {
    const entry = join(folder, name);
    if (await isFile(entry)) return withinFolder(folder, entry);
  }
  const detail =
    declared === undefined
      ? 'it has neither an index file (index.ts, index.js, …) nor a package.json that names one'
      : `its package.json names ${declared}, which is not there`;
  throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: folder, detail });
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

async function withinFolder(folder: string, entry: string): Promise<string> {
  const real = await realpath(entry);
  if (!relative(folder, real).startsWith('..')) return real;
  const detail = `its entry file ${entry} is outside of its folder`;
  throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: folder, detail });
}
