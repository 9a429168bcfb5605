import { createRequire } from 'node:module';
import * as sdk from '@cinnabar/sdk';
import { CinnabarError, type Plugin, SETTING_SCOPES, z } from '@cinnabar/sdk';
import * as worker from '@cinnabar/sdk/worker';
import { GatewayIntentBits, PermissionFlagsBits } from 'discord.js';
// The parts of `semver` are imported separately: its index loads four times as much.
import satisfies from 'semver/functions/satisfies.js';
import valid from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';
import * as zod from 'zod';
import { during } from '../gateway/boundary.js';
import { build, type CachedBundle, readCacheFile } from './build/build.js';
import { evaluate, type SharedModule } from './build/evaluate.js';
import type { DiscoveredPlugin } from './discovery.js';

/** Turns a folder into a validated plugin definition. */
export interface PluginLoader {
  /**
   * Builds a plugin or reads it from the cache, evaluates and validates it. Each call evaluates it again, unless `reuse` returns a definition.
   * @param options.verify compares the content of every input with the cache, not only its time and size
   * @throws CINNABAR_PLUGIN_BUILD, CINNABAR_PLUGIN_INVALID, CINNABAR_PLUGIN_HOST_VERSION
   */
  load(found: DiscoveredPlugin, options?: { readonly verify?: boolean }): Promise<Plugin>;
}

/** Bundles of plugins that were built and validated in advance, and have not changed since. */
export interface BuiltPlugins {
  /** Path of the bundle by the plugin's entry file. */
  readonly files: ReadonlyMap<string, string>;
  /** Called when a plugin has changed, so that its bundle is out of date. */
  readonly onChange: () => void;
}

export interface LoaderOptions {
  readonly builtPlugins?: BuiltPlugins | undefined;
  /** Returns the definition of a bundled plugin by its entry file and its bundle, unless a new version is requested; by default `evaluate` makes it. */
  readonly reuse?: ((entry: string, file: string, evaluate: () => Plugin) => Plugin) | undefined;
  /** `<dataDir>/cache/plugins` */
  readonly cacheDir: string;
  /** Semantic version that is compared with manifests' `host` ranges. */
  readonly hostVersion: string;
}

/** Builds the loader. Stack traces of the plugins that it loads show TypeScript lines. */
export function createLoader({ cacheDir, hostVersion, builtPlugins, reuse }: LoaderOptions): PluginLoader {
  const ahead = new Map(builtPlugins?.files);
  const find = async (found: DiscoveredPlugin, verify: boolean): Promise<string> => {
    const known = ahead.get(found.entry);
    if (known !== undefined && !verify) return known;
    const file = await build(found, { cacheDir, hostVersion, verify });
    if (known !== undefined) {
      const [before, now] = await Promise.all([known, file].map(readCacheFile));
      if (before !== undefined && now !== undefined && isMadeOfTheSame(before, now)) return known;
      ahead.delete(found.entry);
      builtPlugins?.onChange();
    }
    return file;
  };
  return {
    async load(found, { verify = false } = {}) {
      const file = await find(found, verify);
      const isValidated = file === ahead.get(found.entry);
      const evaluate = () => (isValidated ? definedIn(file, found) : definitionIn(file, found, hostVersion));
      return reuse === undefined || verify || found.source !== 'bundled'
        ? evaluate()
        : reuse(found.entry, file, evaluate);
    },
  };
}

/**
 * Evaluates a built bundle and validates the plugin that it exports.
 * @throws CINNABAR_PLUGIN_INVALID, CINNABAR_PLUGIN_HOST_VERSION
 */
export function definitionIn(file: string, found: DiscoveredPlugin, hostVersion: string): Plugin {
  const plugin = definedIn(file, found);
  validatePlugin(plugin, found.path, hostVersion);
  return plugin;
}

/** Evaluates a built bundle. @throws CINNABAR_PLUGIN_INVALID when it does not export a plugin */
function definedIn(file: string, found: DiscoveredPlugin): Plugin {
  const plugin = defaultExport(run(file, found));
  if (isDefined(plugin)) return plugin;
  const detail = 'its default export is not what definePlugin(…) returns';
  throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: found.path, detail });
}

/** Whether two bundles have the same inputs and tools. Their code differs, since its source map contains paths relative to the cache file. */
function isMadeOfTheSame(one: CachedBundle, other: CachedBundle): boolean {
  const madeOf = ({ madeBy, inputs }: CachedBundle) =>
    [madeBy, ...inputs.map(({ path, hash }) => `${hash} ${path}`).sort()].join('\n');
  return madeOf(one) === madeOf(other);
}

function run(file: string, { id, path, entry }: DiscoveredPlugin): unknown {
  try {
    return during(id, 'loading', () => evaluate(file, entry, sharedModule));
  } catch (error) {
    if (error instanceof CinnabarError) throw error;
    const missing = missingPackage(error);
    if (missing !== undefined)
      throw new CinnabarError(
        'CINNABAR_PLUGIN_DEPENDENCY',
        { plugin: id, package: missing, folder: path },
        { cause: error },
      );
    const [detail] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: path, detail: detail ?? '' }, { cause: error });
  }
}

/** The package that an import does not find; `undefined` for a missing file. */
function missingPackage(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')) return undefined;
  return /^Cannot find module '((?:@[^/']+\/)?[^/.'@][^/']*)/.exec(error.message)?.[1];
}

const token = z.object({ kind: z.literal('token'), id: z.string().min(1) });
const named = (names: object) => z.array(z.string().refine((name) => name in names, 'there is no such name'));

/** The parts of a plugin that an author without type checks could get wrong. */
const pluginSchema = z.object({
  kind: z.literal('cinnabar-plugin'),
  manifest: z.object({
    id: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'lower case letters, digits and hyphens, starting with a letter'),
    version: z.string().refine((version) => valid(version) !== null, 'expected a semantic version such as 1.0.0'),
    description: z.string().min(1),
    host: z
      .string()
      .refine((range) => validRange(range) !== null, 'expected a version range such as ^0.1.0')
      .optional(),
    intents: named(GatewayIntentBits).optional(),
    hosts: z.array(z.string().min(1).max(253)).max(100).optional(),
    permissions: named(PermissionFlagsBits).optional(),
    administrative: z.boolean().optional(),
    optionalIntents: named(GatewayIntentBits).optional(),
    disabling: z.string().min(1).optional(),
  }),
  settings: z.partialRecord(z.enum(SETTING_SCOPES), z.instanceof(z.ZodObject)),
  collections: z.record(
    z.string(),
    z.object({
      scope: z.enum([...SETTING_SCOPES, 'message']),
      schema: z.instanceof(z.ZodObject),
      version: z.int().positive(),
    }),
  ),
  inject: z.record(z.string(), z.union([token, z.object({ kind: z.literal('optional'), token })])),
  provides: z.array(token),
  env: z.instanceof(z.ZodObject).optional(),
  configuration: z.instanceof(z.ZodObject).optional(),
  setup: z.custom((value) => typeof value === 'function', 'expected a function'),
});

/**
 * Checks the parts of a plugin that an author without type checks could get wrong.
 * @param place the plugin's folder, for errors
 * @throws CINNABAR_PLUGIN_INVALID, CINNABAR_PLUGIN_HOST_VERSION
 */
function validatePlugin(plugin: Plugin, place: string, hostVersion: string): void {
  const fail = (detail: string) => new CinnabarError('CINNABAR_PLUGIN_INVALID', { place, detail });
  const checked = pluginSchema.safeParse(plugin);
  if (!checked.success) throw fail(sentence(checked.error));
  const { id, host } = plugin.manifest;
  if (host !== undefined && !satisfies(hostVersion, host, { includePrerelease: true })) {
    throw new CinnabarError('CINNABAR_PLUGIN_HOST_VERSION', { plugin: id, wanted: host, actual: hostVersion });
  }
  for (const scope of SETTING_SCOPES) {
    const wrong = missingDefault(plugin.settings[scope]);
    if (wrong !== undefined) throw fail(`its ${scope} setting ${wrong} needs a default, or must be optional`);
    const [refused] = wrongDefaults(plugin.settings[scope]);
    if (refused !== undefined) {
      const { path: key, value, reason } = refused;
      const shown = JSON.stringify(value);
      throw fail(
        `its ${scope} setting "${key}" has the default ${shown}, which it refuses itself (${reason}): change the default or the bound`,
      );
    }
  }
}

function defaultExport(exported: unknown): unknown {
  return typeof exported === 'object' && exported !== null && 'default' in exported ? exported.default : exported;
}

function isDefined(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'cinnabar-plugin';
}

/** The first field that has no default. */
function missingDefault(schema: z.ZodObject | undefined): string | undefined {
  const parsed = schema?.safeParse({});
  if (parsed === undefined || parsed.success) return undefined;
  return `"${parsed.error.issues[0]?.path.join('.')}"`;
}

function sentence({ issues }: z.ZodError): string {
  const [first] = issues;
  return first === undefined ? 'it is malformed' : `${first.path.join('.')} is not right: ${first.message}`;
}

const core = createRequire(import.meta.url);

/** Modules that plugins share with the host in the main thread: classes and registries must be the same objects. */
const sharedModule: SharedModule = (specifier, resolve) => {
  if (specifier === '@cinnabar/sdk') return sdk;
  if (specifier === '@cinnabar/sdk/worker') return worker;
  // `zod` is returned explicitly: `require` would load it a second time, as CommonJS, with separate registries.
  return specifier === 'zod' && resolve() === core.resolve('zod') ? zod : undefined;
};

/** A default that its own schema refuses. */
interface WrongDefault {
  /** `limits.daily` */
  readonly path: string;
  readonly value: unknown;
  /** In zod's words, with the limit: `Too big: expected number to be <=20`. */
  readonly reason: string;
}

/** The defaults that their own schemas refuse, which zod does not check. */
function wrongDefaults(schema: z.core.$ZodType | undefined, path: readonly string[] = []): readonly WrongDefault[] {
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, field]) => wrongDefaults(field, [...path, key]));
  if (schema instanceof z.ZodDefault) {
    const { innerType, defaultValue } = schema.def;
    const [issue] = z.safeParse(innerType, defaultValue).error?.issues ?? [];
    if (issue === undefined) return wrongDefaults(innerType, path);
    return [{ path: [...path, ...issue.path.map(String)].join('.'), value: defaultValue, reason: issue.message }];
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly)
    return wrongDefaults(schema.def.innerType, path);
  return [];
}

/** The definitions of a pool that one host uses. */
export interface BorrowedDefinitions {
  readonly reuse: NonNullable<LoaderOptions['reuse']>;
  /** The bundles of all definitions so far, so that a plugin's sources are checked once in a process. */
  readonly builtPlugins: BuiltPlugins;
  /** Called once nothing that the definitions have started runs any more. */
  giveBack(): void;
}

/**
 * A pool of definitions of bundled plugins, by bundle, which the hosts of one process use one after another: evaluating them again takes a third of a start.
 * Two hosts never use a definition at the same time, and a reload evaluates a plugin again.
 */
export function createDefinitionPool() {
  const unused = new Map<string, Plugin[]>();
  const files = new Map<string, string>();
  return {
    borrow(): BorrowedDefinitions {
      const borrowed: (readonly [file: string, plugin: Plugin])[] = [];
      return {
        builtPlugins: { files, onChange: () => files.clear() },
        reuse(entry, file, evaluate) {
          const plugin = unused.get(file)?.pop() ?? evaluate();
          // Only now: a bundle that is known here is not validated again.
          files.set(entry, file);
          borrowed.push([file, plugin]);
          return plugin;
        },
        giveBack() {
          for (const [file, plugin] of borrowed.splice(0)) unused.set(file, [...(unused.get(file) ?? []), plugin]);
        },
      };
    },
  };
}
