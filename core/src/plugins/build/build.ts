import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { CinnabarError, makeFolder, removeFiles, replaceFile, z } from '@cinnabar/sdk';
import type { BuildFailure, Plugin as BundlerPlugin, Message } from 'esbuild';
import { BUNDLE_DIR, builtPluginsIn, IS_SOURCE_TREE } from '../../bundling/built.js';
import { keepSourceMap } from '../../process/source-maps.js';
import type { DiscoveredPlugin } from '../discovery.js';
import { TIMER_NAMES } from './plugin-timers.js';

export interface BuildOptions {
  readonly cacheDir: string;
  readonly hostVersion: string;
  /** Compares the content of every input with the cache, not only its time and size. */
  readonly verify: boolean;
}

/** Version of the bundle's format. To be raised when `bundle` changes its output. */
const FORM = 5;
/** Folders with the bundles of bundled plugins that the build of the source tree has made. */
const BUILT = IS_SOURCE_TREE ? [builtPluginsIn(BUNDLE_DIR)] : [];
/** Files that are not in the bundle, but affect it. */
const DECISIVE = ['package.json', 'tsconfig.json'];

/**
 * Returns the path of an up-to-date cache file of the plugin, which is built first if necessary. Loads the bundler only then.
 * @throws CINNABAR_PLUGIN_BUILD
 */
export async function build(
  found: Pick<DiscoveredPlugin, 'id' | 'path' | 'entry'>,
  options: BuildOptions,
): Promise<string> {
  const name = `${found.id}-${sha256(found.entry).slice(0, 12)}.cjs`;
  const file = join(options.cacheDir, name);
  const madeBy = `form ${FORM}, host ${options.hostVersion}, node ${process.versions.node}, esbuild ${bundlerVersion()}`;
  for (const kept of [file, ...BUILT.map((folder) => join(folder, name))]) {
    const cached = await readCacheFile(kept);
    if (cached !== undefined && (await holds(cached, madeBy, options.verify))) return kept;
  }

  // Recorded before the build, so that a change during the build is detected later.
  const decisive = await Promise.all(DECISIVE.map((name) => fingerprint(join(found.path, name))));
  const { code, inputs } = await bundle({ plugin: found.id, folder: found.path, entry: found.entry, outfile: file });
  // The running version, which continues if the new one does not start, needs its source map for stack traces.
  keepSourceMap(file);
  await writeCacheFile(file, { code, madeBy, inputs: [...inputs, ...decisive] });
  return file;
}

async function holds(cached: CachedBundle, madeBy: string, verify: boolean): Promise<boolean> {
  if (cached.madeBy !== madeBy) return false;
  const unchanged = await Promise.all(cached.inputs.map((input) => isUnchanged(input, verify)));
  return unchanged.every(Boolean);
}

/** Read from the bundler's package.json: loading the bundler would cost more than the rest of a start. */
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

/** Begins the metadata, which follow the code on a separate line, so that the lines of the source map are still right. */
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

/** Temporary files that are older than this were left by a process that died: no write takes this long. */
const UNFINISHED_MS = 60 * 60_000;

async function removeUnfinished(file: string): Promise<void> {
  const folder = dirname(file);
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${basename(file)}.`));
  // A file may be gone: another process renames its file when it is complete.
  const ages = await Promise.all(names.map((name) => ageOf(join(folder, name)).catch(() => 0)));
  await removeFiles(
    folder,
    names.filter((_, at) => (ages[at] ?? 0) > UNFINISHED_MS),
  );
}

const ageOf = async (file: string): Promise<number> => Date.now() - (await stat(file)).mtimeMs;

interface BundleRequest {
  /** Names the plugin in errors. */
  readonly plugin: string;
  /** The plugin's folder. */
  readonly folder: string;
  /** The file that exports the plugin. */
  readonly entry: string;
  /** The file that the bundle will be in: its source map is relative to it. */
  readonly outfile: string;
}

interface Bundle {
  /** A script whose value is one function, see `evaluate`, and its source map. */
  readonly code: string;
  /** Every input file, with its state at the time. */
  readonly inputs: readonly Fingerprint[];
}

/** The parameters of the bundle's function. The three after `exports` replace the `import.meta` properties of the sources, the timers those of Node. */
const PARAMETERS = `require, module, exports, __filename, __dirname, __cinnabar_url, ${TIMER_NAMES.join(', ')}`;

/** Replacements for timers that are used as properties, such as `globalThis.setTimeout`. */
const TIMERS = Object.fromEntries(
  ['globalThis', 'global'].flatMap((object) => TIMER_NAMES.map((name) => [`${object}.${name}`, name])),
);

let inFlight = 0;

/**
 * Bundles a plugin's own files into one, without packages, which are resolved at run time. The bundler is a child process that serves all current builds, and
 * ends with the last of them.
 * @throws CINNABAR_PLUGIN_BUILD with file, line and column
 */
async function bundle({ plugin, folder, entry, outfile }: BundleRequest): Promise<Bundle> {
  const esbuild = await import('esbuild');
  const inputs: Fingerprint[] = [];
  inFlight += 1;
  try {
    const { outputFiles } = await esbuild.build({
      absWorkingDir: folder,
      entryPoints: [entry],
      outfile,
      write: false,
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: `node${process.versions.node}`,
      packages: 'external',
      // A native import() would resolve from the cache folder, and keep each loaded module in memory forever.
      supported: { 'dynamic-import': false },
      define: {
        ...TIMERS,
        'import.meta.url': '__cinnabar_url',
        'import.meta.filename': '__filename',
        'import.meta.dirname': '__dirname',
      },
      // The inner function may declare names that are also names of parameters.
      banner: { js: `(function (${PARAMETERS}) { (function () { 'use strict';` },
      footer: { js: '}).call(undefined); })' },
      // V8 keeps the text of each bundle in memory. Only white space is removed, so that stack traces show the names of the source.
      minifyWhitespace: true,
      sourcemap: 'inline',
      sourcesContent: false,
      plugins: [recordInputs(inputs)],
      logLevel: 'silent',
    });
    return { code: respectModuleNamespaces(outputFiles[0]?.text ?? ''), inputs };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    throw new CinnabarError('CINNABAR_PLUGIN_BUILD', { plugin, detail: describe(error, folder) }, { cause: error });
  } finally {
    inFlight -= 1;
    if (inFlight === 0) await esbuild.stop();
  }
}

/** Reads the sources for the bundler, so that the recorded state of a file is the one that was built, even when it is saved during the build. */
function recordInputs(inputs: Fingerprint[]): BundlerPlugin {
  return {
    name: 'record-inputs',
    setup: ({ onLoad }) =>
      onLoad({ filter: /.*/, namespace: 'file' }, async ({ path }) => {
        const { content, ...input } = await readWithFingerprint(path);
        inputs.push(input);
        return { contents: content, loader: 'default' };
      }),
  };
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

/** `src/index.ts:3:7: Expected ";" but found "}" (and 2 more errors)` */
function describe({ errors, message }: BuildFailure, folder: string): string {
  const [first, ...others] = errors;
  if (first === undefined) return message;
  const more = others.length === 0 ? '' : ` (and ${others.length} more ${others.length === 1 ? 'error' : 'errors'})`;
  return `${place(first, folder)}${first.text}${more}`;
}

function place({ location }: Message, folder: string): string {
  if (location === null) return '';
  const file = isAbsolute(location.file) ? relative(folder, location.file) : location.file;
  // The bundler's columns start at 0, those of editors at 1.
  return `${file}:${location.line}:${location.column + 1}: `;
}

/** The state of a file when it was read; a file that did not exist has size -1. */
interface Fingerprint {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** SHA-256 of the content, hex; empty for a file that was not there. */
  readonly hash: string;
}

const ABSENT = { size: -1, mtimeMs: 0, hash: '' };

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Reads a file, and the data that show later whether it has changed. */
async function readWithFingerprint(path: string): Promise<Fingerprint & { readonly content: Uint8Array }> {
  // The time is read before the content: a file that changes in between looks older than it is, and is read again.
  const { mtimeMs } = await stat(path);
  const content = await readFile(path);
  return { path, size: content.byteLength, mtimeMs, hash: sha256(content), content };
}

/** The fingerprint of a file that may not exist. */
async function fingerprint(path: string): Promise<Fingerprint> {
  try {
    const { content: _, ...found } = await readWithFingerprint(path);
    return found;
  } catch {
    return { path, ...ABSENT };
  }
}

/**
 * Whether a file has the same content as before.
 * @param verify reads the file even when its time and size are the same
 */
async function isUnchanged(known: Fingerprint, verify: boolean): Promise<boolean> {
  if (!verify) {
    const { size, mtimeMs } = await stat(known.path).catch(() => ABSENT);
    if (size === known.size && (size === ABSENT.size || mtimeMs === known.mtimeMs)) return true;
  }
  return (await fingerprint(known.path)).hash === known.hash;
}

const HELPER = 'var __toESM=';
const ESBUILD = /isNodeMode\|\|!(\w+)\|\|!\1\.__esModule\?/;

/**
 * Makes `import x from 'package'` import the package's default export when `require` returns an ES module.
 *
 * The bundler's helper was made for a `require` that only returns CommonJS exports: for sources of type "module" it uses the whole result as the default
 * import. Node's `require` returns the namespace of an ES module, whose `default` is the default import. The replacement has the length of the replaced code,
 * so that the columns of source maps are still right.
 */
function respectModuleNamespaces(code: string): string {
  if (!code.includes(HELPER)) return code;
  const [found, name] = ESBUILD.exec(code) ?? [];
  const ours = `require.isWhole(isNodeMode,${name})?`;
  if (found === undefined || ours.length > found.length)
    throw new Error('esbuild has changed its __toESM helper: adapt core/src/plugins/build/build.ts');
  return code.replace(found, () => ours.padEnd(found.length));
}
