import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { t, UserError } from '@cinnabar/sdk';
import PQueue from 'p-queue';

/** Files that are never part of a package. */
const LEFT_OUT = new Set(['node_modules', '.git', '.hg', '.svn', '.DS_Store', '.npmrc']);
const ENVIRONMENT = /^\.env(?:\.|$)/;
const AT_ONCE = 16;

/**
 * Copies a plugin's folder in the form in which it would be packed: without its `node_modules`, which are installed again, environment files and credentials.
 * @throws UserError for links, and for more than the limit allows
 */
export async function copyFolder(from: string, to: string, name: string, limit: SizeLimit): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name) || ENVIRONMENT.test(entry.name)) continue;
    const source = join(from, entry.name);
    if (entry.isDirectory()) {
      await copyFolder(source, join(to, entry.name), name, limit);
      continue;
    }
    if (!entry.isFile())
      throw new UserError(
        t('The folder of {package} has a link or something else that is no file: {path}', {
          package: name,
          path: source,
        }),
      );
    limit.bytes -= (await stat(source)).size;
    limit.files -= 1;
    if (limit.bytes < 0 || limit.files < 0) throw tooLarge(name, limit.mostBytes);
    await copyFile(source, join(to, entry.name));
  }
}

/**
 * A normalised path, equal for two paths that name the same file on some file system. Some file systems ignore case, Unicode normalisation or invisible
 * characters, and Windows ignores dots and spaces at the end of a name.
 */
export function foldedPath(path: string): string {
  return path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .split('/')
    .map((name) => name.replace(/[. ]+$/, '') || name)
    .join('/')
    .toUpperCase()
    .toLowerCase();
}

/** All files below a folder, with slashes, sorted. @throws UserError for a link, which no installed plugin contains */
export async function filesBelow(folder: string, prefix = ''): Promise<readonly string[]> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true });
  const found = await Promise.all(
    entries.map((entry) => {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) return filesBelow(folder, path);
      if (entry.isFile()) return [path];
      throw new UserError(t('{path} is a link, or no file.', { path }));
    }),
  );
  return found.flat().sort();
}

/** The integrity of all files of a folder, which changes with every name and byte, and their size. */
export async function measure(folder: string): Promise<{ readonly integrity: string; readonly bytes: number }> {
  const files = await filesBelow(folder);
  const hashOf = async (path: string) => {
    const hash = createHash('sha512');
    let size = 0;
    for await (const chunk of createReadStream(join(folder, path))) {
      const bytes: Buffer = chunk;
      hash.update(bytes);
      size += bytes.length;
    }
    return { line: `${hash.digest('hex')} ${path}\n`, size };
  };
  const lines = await new PQueue({ concurrency: AT_ONCE }).addAll(files.map((path) => () => hashOf(path)));
  const all = createHash('sha512');
  for (const { line } of lines) all.update(line);
  return { integrity: `sha512-${all.digest('base64')}`, bytes: lines.reduce((sum, { size }) => sum + size, 0) };
}

/** @returns `undefined` for a text that is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The remaining allowance of a plugin with all its dependencies. Unpacked files are subtracted. */
export interface SizeLimit {
  readonly mostBytes: number;
  bytes: number;
  files: number;
}

/** Enough files for any plugin, and few enough for a data folder. */
export const MOST_FILES = 50_000;

export const createSizeLimit = (mostBytes: number): SizeLimit => ({ mostBytes, bytes: mostBytes, files: MOST_FILES });

export function tooLarge(what: string, mostBytes: number): UserError {
  return new UserError(
    t(
      '{what} is larger than {megabytes} MB, the most that a plugin may take (`host.plugins.megabytes` of the configuration).',
      {
        what,
        megabytes: Math.round(mostBytes / 1e6),
      },
    ),
  );
}
