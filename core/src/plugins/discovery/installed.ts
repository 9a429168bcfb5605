import { findPackage } from '../build/resolve-package.js';
import { readPackageFile } from './package-file.js';

const KEYWORD = 'cinnabar-plugin';

/**
 * The folders of plugins among the direct dependencies of a project. Nothing else of `node_modules` is looked at.
 * @param root a folder with a package.json; one without has no plugins
 */
export async function installedPlugins(root: string): Promise<readonly string[]> {
  const project = await readPackageFile(root).catch(() => undefined);
  if (project === undefined) return [];
  const names = Object.keys({ ...project.dependencies, ...project.optionalDependencies });
  const folders = await Promise.all(names.map((name) => pluginFolder(name, root)));
  return folders.filter((folder) => folder !== undefined);
}

async function pluginFolder(name: string, root: string): Promise<string | undefined> {
  const folder = findPackage(name, root);
  if (folder === undefined) return undefined;
  const file = await readPackageFile(folder).catch(() => undefined);
  return file?.keywords.includes(KEYWORD) ? folder : undefined;
}
