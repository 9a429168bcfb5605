import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exports as resolveExports } from 'resolve.exports';

interface Manifest {
  readonly name: string;
  readonly exports?: unknown;
}

/** `@scope/name/sub/path` as its package and the rest. */
const SPECIFIER = /^((?:@[^/]+\/)?[^/.][^/]*)(\/.*)?$/;

/**
 * Finds the file behind a package that offers itself to `import` alone, as Node's `require` cannot: it does not look at that
 * condition, though it can load what is there.
 * @returns `undefined` when there is no such package
 */
export function resolveModuleOnly(specifier: string, from: string): string | undefined {
  const [, name, subpath = ''] = SPECIFIER.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const folder = findPackage(name, dirname(from));
  if (folder === undefined) return undefined;
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (!isManifest(manifest)) return undefined;
  const [file] = exportedFiles(manifest, `.${subpath}`);
  return file === undefined ? undefined : join(folder, file);
}

/** The folder of an installed package, looked for as Node does: in each `node_modules` on the way up. */
export function findPackage(name: string, from: string): string | undefined {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(from);
  return parent === from ? undefined : findPackage(name, parent);
}

/** What a package's `exports` name for a path in it, as `import` sees it; nothing when it has none or does not export the path. */
export function exportedFiles(manifest: Manifest, path: string): readonly string[] {
  try {
    return resolveExports(manifest, path) ?? [];
  } catch {
    return [];
  }
}

/** By hand: a worker thread starts in half of the time without zod. */
function isManifest(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}
