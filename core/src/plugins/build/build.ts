import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from '@cinnabar/sdk';
import { keepSourceMap } from '../../bundling/source-maps.js';
import type { DiscoveredPlugin } from '../discovery.js';
import { bundle } from './bundle.js';
import { type CachedBundle, readCacheFile, writeCacheFile } from './cache-file.js';
import { fingerprint, isUnchanged, sha256 } from './fingerprint.js';

export interface BuildOptions {
  readonly cacheDir: string;
  readonly hostVersion: string;
  /** Compares the content of every input with the cache, not only its time and size. */
  readonly verify: boolean;
}

/** Version of the bundle's own form: raised when `bundle.ts` changes what it emits. */
const FORM = 4;
/** Files that are no input of the bundle, yet decide what it becomes. */
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

  // Before the build: a change during it is then seen as one.
  const decisive = await Promise.all(DECISIVE.map((name) => fingerprint(join(found.path, name))));
  const { code, inputs } = await bundle({ plugin: found.id, folder: found.path, entry: found.entry, outfile: file });
  // The version that runs may go on running, should the new one not start.
  keepSourceMap(file);
  await writeCacheFile(file, { code, madeBy, inputs: [...inputs, ...decisive] });
  return file;
}

async function holds(cached: CachedBundle, madeBy: string, verify: boolean): Promise<boolean> {
  if (cached.madeBy !== madeBy) return false;
  const unchanged = await Promise.all(cached.inputs.map((input) => isUnchanged(input, verify)));
  return unchanged.every(Boolean);
}

/** Asked of its package.json: loading the bundler itself would cost more than the rest of a start. */
function bundlerVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('esbuild/package.json');
  return z.object({ version: z.string() }).parse(manifest).version;
}
