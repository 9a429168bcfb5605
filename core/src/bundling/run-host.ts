import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import type { runCommandLine } from '../cli/command-line.js';
import type { tryPlugin } from '../plugins/check/trial.js';
import type { recordDeclarations } from '../plugins/install/record-declarations.js';
import * as codeCache from '../process/code-cache.js';
import * as sourceMaps from '../process/source-maps.js';
import { holdYoungGeneration, releaseYoungGeneration } from '../process/young-generation.js';
import { areFoldersSame, type Built, CORE, findBuilt, forgetBuilt, WORKSPACE } from './built.js';

/** The host, as the launcher sees it. */
export interface HostBundle {
  /** Runs one command, then ends the process. */
  runCommandLine(args: readonly string[]): Promise<void>;
  /** See `trial.ts`. */
  tryPlugin(...args: Parameters<typeof tryPlugin>): ReturnType<typeof tryPlugin>;
  /** See `record-declarations.ts`. */
  recordDeclarations: typeof recordDeclarations;
}

interface HostBundleOptions {
  /** Whether a bot is to be started, which then allows V8 to use more memory once it is ready. */
  readonly runsBot: boolean;
  /** Called with the reason when the bundle cannot be used. */
  readonly onUnusable: (error: unknown) => void;
}

/** The exports of the bundle; see `host-bundle.ts`. */
interface Exports {
  readonly runCommandLine: typeof runCommandLine;
  readonly tryPlugin: typeof tryPlugin;
  readonly recordDeclarations: typeof recordDeclarations;
  /** Modules of packages in the bundle, by path from the workspace. */
  readonly shared: Readonly<Record<string, () => unknown>>;
}

/**
 * How much WebAssembly may run before V8 optimises it. The only one here is llhttp, which undici parses answers with: by default V8 optimises it
 * after the first answer, which takes a tenth of a second of processor time and 30 MB, some of which glibc never returns to the system. With this
 * budget V8 optimises it after some hundred answers.
 */
const WASM_TIERING_BUDGET = 1_000_000_000;

/**
 * Flags of V8, set before any code cache is read: V8 refuses a cache that was made under other flags.
 *
 * Without pretenuring: while the bot starts, nearly every object survives. V8 concludes that the same code keeps making long-lived objects, and allocates them
 * in the old generation at once. Garbage of a command would then stay there, with all that it refers to, until the next full collection, and a command would
 * take a third more processor time.
 */
const FLAGS: readonly string[] = [`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`, '--no-allocation-site-pretenuring'];

/**
 * Runs the current bundle of the host, with those of plugins that were built with it while no file of theirs has been added or removed.
 * @param dir the folder that it is in
 * @returns `undefined` when there is none, or when it cannot be used
 */
export function openHostBundle(dir: string, { runsBot, onUnusable }: HostBundleOptions): HostBundle | undefined {
  const built = findBuilt(dir);
  if (built === undefined) return undefined;
  try {
    return runHostBundle(dir, built, runsBot);
  } catch (error) {
    onUnusable(error);
    return undefined;
  }
}

function runHostBundle(dir: string, built: Built, runsBot: boolean): HostBundle {
  codeCache.resetHeapOptions();
  for (const flag of FLAGS) setFlagsFromString(flag);
  if (runsBot) holdYoungGeneration();
  const file = join(dir, built.script);
  const run = codeCache.runCached(readFileSync(file), file);
  sourceMaps.mapStackFrames(file, () => JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  if (typeof run !== 'function') throw new TypeError(`${file} holds no bundle`);
  const require = createRequire(join(CORE, 'package.json'));
  const module: { exports: Partial<Exports> } = { exports: {} };
  const launcher = {
    'code-cache': codeCache,
    'source-maps': sourceMaps,
    urlOf: (path: string) => pathToFileURL(join(dir, path)).href,
    resolve: (url: string, specifier: string) => pathToFileURL(createRequire(url).resolve(specifier)).href,
  };
  run(module.exports, require, module, file, dirname(file), launcher);
  const { exports } = module;
  if (!isWhole(exports)) throw new TypeError(`${file} does not export the host`);
  shareModules(exports.shared, require);
  const builtPlugins = () => (areFoldersSame(built) ? { builtPlugins: pluginsOf(dir, built) } : {});
  return {
    runCommandLine: (args) =>
      exports.runCommandLine(args, {
        ...builtPlugins(),
        onReady() {
          releaseYoungGeneration();
          void codeCache.saveCodeCaches();
        },
      }),
    tryPlugin: (task, onStep) =>
      exports.tryPlugin(task, onStep, { ...builtPlugins(), onReady: codeCache.saveCodeCaches }),
    recordDeclarations: exports.recordDeclarations,
  };
}

function pluginsOf(dir: string, { plugins }: Built) {
  const files = new Map(Object.entries(plugins).map(([entry, file]) => [join(WORKSPACE, entry), join(dir, file)]));
  return { files, onChange: () => forgetBuilt(dir) };
}

function isWhole(exports: Partial<Exports>): exports is Exports {
  const { runCommandLine, tryPlugin, recordDeclarations, shared } = exports;
  return [runCommandLine, tryPlugin, recordDeclarations, shared].every((one) => one !== undefined);
}

/**
 * When a plugin or one of its packages imports a package's module that is in the bundle, it gets the bundle's: a second discord.js would have different
 * classes.
 */
function shareModules(shared: Exports['shared'], require: NodeJS.Require): void {
  for (const [path, load] of Object.entries(shared)) {
    const filename = join(WORKSPACE, path);
    Reflect.set(require.cache, filename, new LoadedModule(filename, load));
  }
}

/** An entry of Node's module cache. A class, since there are a thousand of them: accessors on each object would take a megabyte. */
class LoadedModule {
  readonly id: string;
  /** Node sets it again. */
  filename: string;
  readonly loaded = true;
  readonly #load: () => unknown;
  #children: NodeModule[] | undefined;
  #searched: readonly string[] | undefined;

  constructor(filename: string, load: () => unknown) {
    this.id = filename;
    this.filename = filename;
    this.#load = load;
  }
  get path(): string {
    return dirname(this.id);
  }
  get exports(): unknown {
    return this.#load();
  }
  get children(): NodeModule[] {
    this.#children ??= [];
    return this.#children;
  }
  // The folders in which Node's ES module loader looks for packages. Node 20 sets this property, Node 24 reads it.
  get paths(): readonly string[] {
    this.#searched ??= createRequire(this.id).resolve.paths('any') ?? [];
    return this.#searched;
  }
  set paths(folders: readonly string[]) {
    this.#searched = folders;
  }
}
