import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from '@cinnabar/sdk';
import { exports as resolveExports } from 'resolve.exports';

const packageSchema = z.object({ name: z.string(), exports: z.unknown().optional() });

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
  const manifest = packageSchema.safeParse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  if (!manifest.success) return undefined;
  const [file] = exportedFiles(manifest.data, `.${subpath}`);
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
export function exportedFiles(
  manifest: { readonly name: string; readonly exports?: unknown },
  path: string,
): readonly string[] {
  try {
    return resolveExports(manifest, path) ?? [];
  } catch {
    return [];
  }
}
