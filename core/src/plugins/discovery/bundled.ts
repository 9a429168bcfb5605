import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPackageFile } from './package-file.js';

/**
 * The folders of the plugins that come with the host: `plugins/*` beside core in the source tree, and the packages
 * `@cinnabar/plugin-*` beside core where it is installed.
 */
export async function bundledFolders(): Promise<readonly string[]> {
  const core = await packageFolder(dirname(fileURLToPath(import.meta.url)));
  const beside = dirname(core);
  const [inTree, installed] = await Promise.all([folderNames(join(beside, 'plugins')), folderNames(beside)]);
  return [
    ...inTree.map((name) => join(beside, 'plugins', name)),
    ...installed.filter((name) => name.startsWith('plugin-')).map((name) => join(beside, name)),
  ];
}

async function packageFolder(folder: string): Promise<string> {
  if ((await readPackageFile(folder).catch(() => undefined))?.name === '@cinnabar/core') return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('core cannot find its own package.json');
  return packageFolder(parent);
}

async function folderNames(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}
