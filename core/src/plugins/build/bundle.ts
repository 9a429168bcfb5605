import { isAbsolute, relative } from 'node:path';
import { CinnabarError } from '@cinnabar/sdk';
import type { BuildFailure, Plugin as BundlerPlugin, Message } from 'esbuild';
import { type Fingerprint, readWithFingerprint } from './fingerprint.js';
import { respectModuleNamespaces } from './interop.js';
import { TIMER_NAMES } from './plugin-timers.js';

export interface BundleRequest {
  /** Names the plugin in errors. */
  readonly plugin: string;
  /** The plugin's folder. */
  readonly folder: string;
  /** The file that exports the plugin. */
  readonly entry: string;
  /** The file that the bundle will be in: its source map is relative to it. */
  readonly outfile: string;
}

export interface Bundle {
  /** A script whose value is one function, see `evaluate`, and its source map. */
  readonly code: string;
  /** Every file that went in, as it was then. */
  readonly inputs: readonly Fingerprint[];
}

/** What the bundle's function is called with; the `import.meta` names of the sources stand for the three after `exports`, and the timers for Node's. */
const PARAMETERS = `require, module, exports, __filename, __dirname, __cinnabar_url, ${TIMER_NAMES.join(', ')}`;

/** `globalThis.setTimeout` is the plugin's own, too. */
const TIMERS = Object.fromEntries(
  ['globalThis', 'global'].flatMap((object) => TIMER_NAMES.map((name) => [`${object}.${name}`, name])),
);

let underWay = 0;

/**
 * Bundles a plugin's own files into one. Packages stay outside: they are the plugin's to resolve.
 * The bundler is a child process: one serves all builds under way, and it ends with the last of them.
 * @throws CINNABAR_PLUGIN_BUILD with file, line and column
 */
export async function bundle({ plugin, folder, entry, outfile }: BundleRequest): Promise<Bundle> {
  const esbuild = await import('esbuild');
  const inputs: Fingerprint[] = [];
  underWay += 1;
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
      // A native import() would resolve from the cache folder, and keep what it loads for ever.
      supported: { 'dynamic-import': false },
      define: {
        ...TIMERS,
        'import.meta.url': '__cinnabar_url',
        'import.meta.filename': '__filename',
        'import.meta.dirname': '__dirname',
      },
      // The function within may declare names of its own that are those of parameters.
      banner: { js: `(function (${PARAMETERS}) { (function () { 'use strict';` },
      footer: { js: '}).call(undefined); })' },
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
    underWay -= 1;
    if (underWay === 0) await esbuild.stop();
  }
}

/** Reads the sources for the bundler: a file that is saved while the build goes on cannot be fingerprinted as what it was not. */
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
  // Columns of the bundler count from 0, those of editors from 1.
  return `${file}:${location.line}:${location.column + 1}: `;
}
