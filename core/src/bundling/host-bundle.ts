import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Plugin as BundlerPlugin, Metafile } from 'esbuild';
import { build } from '../plugins/build/build.js';
import { createDiscovery } from '../plugins/discovery.js';
import { definitionIn } from '../plugins/loader.js';
import { HOST_VERSION } from '../version.js';
import { type Built, builtPluginsIn, CORE, markOf, PARAMETERS, recordIn, WATCHED, WORKSPACE } from './built.js';

/** Modules that the launcher passes to the host, or native modules that do not exist on every machine. */
const EXTERNAL = ['esbuild', 'zlib-sync', 'bufferutil', 'utf-8-validate', 'pg-native', 'pg-cloudflare'];

/**
 * Builds the host that the compiler has made (`core/dist`, the SDK, their packages) into one script, so that a start reads one file and not 1,400. The previous
 * bundle is replaced when all is written.
 * @param dir the folder for it
 * @param at when the sources were read, in ms since 1970
 */
export async function buildHostBundle(dir: string, at: number): Promise<void> {
  const watched = watchedFolders();
  const marks = WATCHED.map(markOf);
  const first = await bundle(dir, []);
  // The packages' modules in the bundle are the process's only ones: every other importer gets these. See `run-host.ts`.
  const shared = Object.entries(first.inputs)
    .filter(([path, { format }]) => format === 'cjs' && isOfPackage(path) && path.endsWith('js'))
    .map(([path]) => path);
  const { code, map } = await bundle(dir, shared);
  const name = `host-${createHash('sha256').update(code).digest('hex').slice(0, 12)}.cjs`;
  mkdirSync(dir, { recursive: true });
  const old = readdirSync(dir).filter((file) => file.startsWith('host-') && !file.startsWith(name.slice(0, -4)));
  place(join(dir, `${name}.map`), map);
  place(join(dir, name), code);
  const plugins = await buildPlugins(dir);
  const built: Built = { script: name, node: process.versions.node, at, marks, plugins, folders: watched };
  place(recordIn(dir), JSON.stringify(built));
  for (const file of old) rmSync(join(dir, file), { force: true });
}

/** A plugin that cannot be built, or is not valid, is left out: the start reports the reason. */
async function buildPlugins(dir: string): Promise<Built['plugins']> {
  const { plugins } = await createDiscovery({ folders: [], packageRoots: [] })();
  const options = { cacheDir: builtPluginsIn(dir), hostVersion: HOST_VERSION, verify: true };
  const built = await Promise.all(
    plugins.map(async (found) => {
      try {
        const file = await build(found, options);
        definitionIn(file, found, HOST_VERSION);
        return [[relative(WORKSPACE, found.entry), relative(dir, file)]];
      } catch {
        return [];
      }
    }),
  );
  return Object.fromEntries(built.flat());
}

interface Result {
  readonly code: string;
  readonly map: string;
  readonly inputs: Metafile['inputs'];
}

async function bundle(dir: string, shared: readonly string[]): Promise<Result> {
  const esbuild = await import('esbuild');
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: WORKSPACE,
    stdin: { contents: entryOf(shared), resolveDir: CORE, sourcefile: 'host-entry.js' },
    outfile: join(dir, 'host.cjs'),
    write: false,
    bundle: true,
    metafile: true,
    format: 'cjs',
    platform: 'node',
    target: `node${process.versions.node}`,
    external: EXTERNAL,
    // A script has no `import()`.
    supported: { 'dynamic-import': false },
    // Names stay as they are in the source: they appear in stack traces and log lines.
    minifyWhitespace: true,
    sourcemap: 'external',
    sourcesContent: false,
    banner: { js: `(function (${PARAMETERS}) {` },
    footer: { js: '})' },
    plugins: [ofLauncher, ownPlaces(dir), oneCopyEach()],
    logLevel: 'error',
  });
  const text = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { code: text('.cjs'), map: text('.map'), inputs: metafile.inputs };
}

/**
 * The bundle's entry module. Imports the trial of plugins, and with it the local Discord, at its first use, so that the start of a bot does not evaluate them.
 */
function entryOf(shared: readonly string[]): string {
  const getters = shared.map(
    (path) => `${JSON.stringify(path)}: () => require(${JSON.stringify(join(WORKSPACE, path))}),`,
  );
  return `export { runCommandLine } from './dist/cli/command-line.js';
export const tryPlugin = async (...given) => (await import('./dist/plugins/check/trial.js')).tryPlugin(...given);
export const recordDeclarations = async (...given) => (await import('./dist/plugins/install/record-declarations.js')).recordDeclarations(...given);
export const shared = {
${getters.join('\n')}
};
`;
}

/** Modules with state that the launcher has loaded already must not exist twice. */
const ofLauncher: BundlerPlugin = {
  name: 'of-launcher',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/(?:code-cache|source-maps)\.js$/ }, ({ path }) => ({
      path: basename(path, '.js'),
      namespace: 'launcher',
    }));
    onLoad({ filter: /.*/, namespace: 'launcher' }, ({ path }) => ({
      contents: `module.exports = __launcher[${JSON.stringify(path)}];`,
      loader: 'js',
    }));
  },
};

/** Keeps `import.meta` that of each source file, and bundles modules that a file requires by name. */
const ownPlaces = (dir: string): BundlerPlugin => ({
  name: 'own-places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.m?js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const code = escaped(isOfPackage(relative(WORKSPACE, path)) ? withNames(path, text) : withConstants(text));
      if (code === text && !code.includes('import.meta')) return undefined;
      const place = `__launcher.urlOf(${JSON.stringify(relative(dir, path))})`;
      const resolve = `__launcher.resolve(${place}, `;
      const contents = code
        .replace(/\bcreateRequire\(import\.meta\.url\)\((?='[\w@])/g, 'require(')
        .replace(/\bconst require = createRequire\(import\.meta\.url\);/g, '')
        .replace(/(?<!['"`])import\.meta\.resolve\(/g, resolve)
        .replace(/(?<!['"`])import\.meta\.url/g, place);
      return { contents, loader: 'js' };
    }),
});

/**
 * Escapes characters above U+00FF. The bundler escapes them in strings only, and a single one in a regular expression makes V8 store the whole bundle with two
 * bytes a character.
 */
function escaped(code: string): string {
  return code.replace(/\\[\0-\xff]|\\?([^\0-\xff])/g, (found, unit?: string) =>
    unit === undefined ? found : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Whether a file belongs to a dependency, by its path from the workspace. */
function isOfPackage(path: string): boolean {
  return path.startsWith('..') || path.includes('node_modules');
}

const DISCORD_JS = join('node_modules', 'discord.js', 'src');

/**
 * Keeps the names of discord.js's classes: it looks up the limits of its caches by them, and the bundler renames a class whose name is taken. With the
 * bundler's option to keep all names, a start would take a twelfth longer.
 */
function withNames(path: string, text: string): string {
  return path.includes(DISCORD_JS) ? text.replace(/^class (\w+)[^{]*\{/gm, "$&static name='$1';") : text;
}

/**
 * Names that are imported from Node or discord.js become constants of what `require` returns. Otherwise the bundler calls a getter at each use, which costs more
 * than the whole work for a message, and copies all names of the imported module for each importing file, which costs a start some megabytes.
 */
function withConstants(code: string): string {
  return code.replace(
    /^import \{ ([^}]+) \} from '(node:[^']+|discord\.js)';/gm,
    (_, names: string, from: string) => `const { ${names.replaceAll(' as ', ': ')} } = require('${from}');`,
  );
}

/** Bundles one copy of a package that is installed twice in the same version. */
function oneCopyEach(): BundlerPlugin {
  const first = new Map<string, string>();
  return {
    name: 'one-copy-each',
    setup: ({ onResolve, resolve }) =>
      onResolve({ filter: /^[\w@]/ }, async ({ path, pluginData, ...rest }) => {
        if (pluginData === 'resolving' || EXTERNAL.includes(path)) return undefined;
        const { importer, namespace, resolveDir, kind } = rest;
        const found = await resolve(path, { importer, namespace, resolveDir, kind, pluginData: 'resolving' });
        if (found.errors.length > 0 || found.external || found.namespace !== 'file') return found;
        const key = versionedName(found.path);
        if (key === undefined) return found;
        const kept = first.get(key) ?? found.path;
        first.set(key, kept);
        return { ...found, path: kept };
      }),
  };
}

/** `undici@6.29.1/index.js` */
function versionedName(file: string): string | undefined {
  const parts = file.split(`${sep}node_modules${sep}`);
  const [, name, rest] = /^((?:@[^/\\]+[/\\])?[^/\\]+)[/\\](.*)$/.exec(parts.at(-1) ?? '') ?? [];
  if (parts.length < 2 || name === undefined) return undefined;
  const folder = file.slice(0, file.length - (rest ?? '').length);
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof manifest !== 'object' || manifest === null || !('version' in manifest)) return undefined;
  return `${name}@${manifest.version}/${rest}`;
}

/** Every folder of sources with its modification time, which changes when a file in it is added, removed, renamed or replaced. */
function watchedFolders(): Built['folders'] {
  const found: [string, number][] = [];
  const visit = (folder: string) => {
    found.push([relative(WORKSPACE, folder), Math.floor(statSync(folder).mtimeMs)]);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && entry.name !== 'node_modules') visit(join(folder, entry.name));
    }
  };
  const plugins = join(WORKSPACE, 'plugins');
  const packages = [
    'sdk',
    'core',
    ...(existsSync(plugins) ? readdirSync(plugins).map((name) => join('plugins', name)) : []),
  ];
  for (const source of packages.map((name) => join(WORKSPACE, name, 'src'))) if (existsSync(source)) visit(source);
  return found;
}

/** Writes a file completely or not at all: a start may read it at the same time. */
function place(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.new`;
  writeFileSync(fresh, content);
  renameSync(fresh, file);
}
