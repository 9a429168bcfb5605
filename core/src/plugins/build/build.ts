import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { makeFolder, removeFiles, replaceFile, z } from '@cinnabar/sdk';
import { keepSourceMap } from '../../process/source-maps.js';
import type { DiscoveredPlugin } from '../discovery.js';
import { bundle, type Fingerprint, fingerprint, isUnchanged, sha256 } from './bundle.js';

export interface BuildOptions {
  readonly cacheDir: string;
  readonly hostVersion: string;
  /** Compares the content of every input with the cache, not only its time and size. */
  readonly verify: boolean;
}

/** Version of the bundle's format: raised when `bundle.ts` changes its output. */
const FORM = 4;
/** Files that are not in the bundle, but affect it. */
const DECISIVE = ['package.json', 'tsconfig.json'];

/**
 * Makes sure that the plugin's cache file is there and up to date, and returns its path.
 * The bundler is loaded only when there is something to build.
 * @throws CINNABAR_PLUGIN_BUILD
 */
export async function build(
  found: Pick<DiscoveredPlugin, 'id' | 'path' | 'entry'>,
  options: BuildOptions,
): Promise<string> {
  const file = join(options.cacheDir, `${found.id}-${sha256(found.entry).slice(0, 12)}.cjs`);
  const madeBy = `form ${FORM}, host ${options.hostVersion}, node ${process.versions.node}, esbuild ${bundlerVersion()}`;
  const cached = await readCacheFile(file);
  if (cached !== undefined && (await holds(cached, madeBy, options.verify))) return file;

  // Recorded before the build: a change during it is then detected.
  const decisive = await Promise.all(DECISIVE.map((name) => fingerprint(join(found.path, name))));
  const { code, inputs } = await bundle({ plugin: found.id, folder: found.path, entry: found.entry, outfile: file });
  // The running version may have to continue, if the new one does not start.
  keepSourceMap(file);
  await writeCacheFile(file, { code, madeBy, inputs: [...inputs, ...decisive] });
  return file;
}

async function holds(cached: CachedBundle, madeBy: string, verify: boolean): Promise<boolean> {
  if (cached.madeBy !== madeBy) return false;
  const unchanged = await Promise.all(cached.inputs.map((input) => isUnchanged(input, verify)));
  return unchanged.every(Boolean);
}

/** From its package.json: loading the bundler would cost more than the rest of a start. */
function bundlerVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('esbuild/package.json');
  return z.object({ version: z.string() }).parse(manifest).version;
}

/** A bundle on the disk, with the data that show whether it is up to date. */
export interface CachedBundle {
  readonly code: string;
  /** Versions of the tools that made it. */
  readonly madeBy: string;
  readonly inputs: readonly Fingerprint[];
}

const trailerSchema = z.object({
  madeBy: z.string(),
  codeHash: z.string(),
  inputs: z.array(z.object({ path: z.string(), size: z.number(), mtimeMs: z.number(), hash: z.string() })),
});

/** The metadata follow the code, on a separate line: so no line of the source map moves. */
const TRAILER = '\n//cinnabar-cache ';

/** Reads a cache file; `undefined` when there is none, or when it is damaged in any way. */
export async function readCacheFile(file: string): Promise<CachedBundle | undefined> {
  try {
    const content = await readFile(file, 'utf8');
    const end = content.lastIndexOf(TRAILER);
    const code = content.slice(0, end);
    const { madeBy, codeHash, inputs } = trailerSchema.parse(JSON.parse(content.slice(end + TRAILER.length)));
    return codeHash === sha256(code) ? { code, madeBy, inputs } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a cache file atomically: a concurrent reader gets the old one. Several processes may share the folder. */
async function writeCacheFile(file: string, { code, madeBy, inputs }: CachedBundle): Promise<void> {
  const trailer: z.input<typeof trailerSchema> = { madeBy, codeHash: sha256(code), inputs: [...inputs] };
  await makeFolder(dirname(file));
  await replaceFile(file, `${code}${TRAILER}${JSON.stringify(trailer)}\n`, { writer: randomUUID() });
  await removeUnfinished(file);
}

/** No write takes this long: older files were left by a process that died. */
const UNFINISHED_MS = 60 * 60_000;

async function removeUnfinished(file: string): Promise<void> {
  const folder = dirname(file);
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${basename(file)}.`));
  // Another process may move its file into place meanwhile.
  const ages = await Promise.all(names.map((name) => ageOf(join(folder, name)).catch(() => 0)));
  await removeFiles(
    folder,
    names.filter((_, at) => (ages[at] ?? 0) > UNFINISHED_MS),
  );
}

const ageOf = async (file: string): Promise<number> => Date.now() - (await stat(file)).mtimeMs;
