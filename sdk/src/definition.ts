import type { GatewayIntentsString, PermissionsString } from 'discord.js';
import type { z } from 'zod';
import type { CollectionDefinitions } from './collections.js';
import type { ErasedContext, PluginContext } from './context.js';
import { CinnabarError } from './errors.js';
import type { ErasedGuildFilePart, GuildFileContext, GuildFilePart } from './guild-files.js';
import type { ErasedImporter, ImportContext, ImporterDefinition } from './importers.js';
import type { CheckContext, CheckResult, ErasedCheckContext } from './observability.js';
import type { SettingsSchemas } from './settings.js';
import type { Injections, Token } from './token.js';

/** A plugin as its author declares it, for `definePlugin`. */
export interface PluginDefinition<
  S extends SettingsSchemas,
  C extends CollectionDefinitions,
  I extends Injections,
  E extends EnvSchema,
> {
  readonly manifest: Manifest;
  readonly settings?: S;
  /** `& CollectionDefinitions` gives the parameters of functions in it (migrations, owners) their types. */
  readonly collections?: C & CollectionDefinitions;
  readonly inject?: I;
  /** The tokens that `setup` provides, declared in advance so that plugins start in the right order. */
  readonly provides?: readonly Token<unknown>[];
  readonly env?: E;
  /** Top-level keys of the YAML files that the plugin reads, for editors and for the host, which accepts them while the plugin runs. */
  readonly configuration?: z.ZodObject;
  /** Data that it imports from other bots. */
  readonly importers?: readonly ImporterDefinition<S, C>[];
  /** Its data about a guild other than settings, for `!server export` and `apply`: made by `guildFilePart`. */
  readonly guildFile?: GuildFilePart<NoInfer<S>, NoInfer<C>>;
  /**
   * Checks for `!doctor` and `cinnabar doctor`: keys, addresses, servers.
   * @example checks: async ({ env, signal }) => [{ ok: (await fetch(env.API, { signal })).ok, text: 'The server answers', remedy: 'Look at API.' }],
   */
  checks?(context: CheckContext<S, E>): Promise<readonly CheckResult[]> | readonly CheckResult[];
  /**
   * Example messages of members, and the expected tool calls, for `cinnabar eval`, in addition to the examples of the tools.
   * @example evaluations: [{ say: 'I need a number up to 6', tool: 'roll_die', input: { sides: 6 } }, { say: 'What is a die?' }],
   */
  readonly evaluations?: readonly Evaluation[];
  /** The only entry point. Everything that it registers is removed when the plugin stops. */
  setup(context: PluginContext<S, C, I, E>): unknown;
}

/** An example message of a member, and the expected tool call. */
export interface Evaluation {
  readonly say: string;
  /** The expected tool of the plugin; left out when the model should only answer with text. */
  readonly tool?: string;
  /** Arguments that the call must contain; others are allowed. */
  readonly input?: Readonly<Record<string, unknown>>;
}

/** A plugin with erased types, as the host handles it. */
export interface Plugin {
  readonly kind: 'cinnabar-plugin';
  readonly manifest: Manifest;
  readonly settings: SettingsSchemas;
  readonly collections: CollectionDefinitions;
  readonly inject: Injections;
  readonly provides: readonly Token<unknown>[];
  readonly env: EnvSchema | undefined;
  readonly configuration: z.ZodObject | undefined;
  readonly importers: readonly ErasedImporter[];
  readonly guildFile?: ErasedGuildFilePart;
  readonly evaluations: readonly Evaluation[];
  checks?(context: ErasedCheckContext): Promise<readonly CheckResult[]> | readonly CheckResult[];
  setup(context: ErasedContext): unknown;
}

const ID = /^[a-z][a-z0-9-]{0,31}$/;

/**
 * Declares a plugin; the default export of its entry file.
 * @example
 * export default definePlugin({
 *   manifest: { id: 'hello', version: '1.0.0', description: 'Says hello' },
 *   setup({ command }) {
 *     command({ name: 'hello', description: 'Says hello', run: (ctx) => ctx.reply(`Hello, ${ctx.user}!`) });
 *   },
 * });
 * @throws CinnabarError CINNABAR_PLUGIN_INVALID when the declaration contradicts itself
 */
export function definePlugin<
  const S extends SettingsSchemas = Record<never, never>,
  const C extends CollectionDefinitions = Record<never, never>,
  const I extends Injections = Record<never, never>,
  E extends EnvSchema = z.ZodObject<Record<never, never>>,
>(definition: PluginDefinition<S, C, I, E>): Plugin {
  const { manifest } = definition;
  if (!ID.test(manifest.id)) {
    throw new CinnabarError('CINNABAR_PLUGIN_INVALID', {
      place: JSON.stringify(manifest.id),
      detail: 'its id must be lower case letters, digits and hyphens, starting with a letter, at most 32',
    });
  }
  return {
    kind: 'cinnabar-plugin',
    manifest,
    settings: definition.settings ?? {},
    collections: definition.collections ?? {},
    inject: definition.inject ?? {},
    provides: definition.provides ?? [],
    env: definition.env,
    configuration: definition.configuration,
    evaluations: definition.evaluations ?? [],
    importers: (definition.importers ?? []).map((importer) => ({
      ...importer,
      // Built from this very definition, as the context of `setup` is.
      run: (data, context) => importer.run(data, context as ImportContext<S, C>),
    })),
    ...(definition.guildFile === undefined ? {} : { guildFile: erased(definition.guildFile) }),
    ...(definition.checks === undefined
      ? {}
      : { checks: (context) => definition.checks?.(context as CheckContext<S, E>) ?? [] }),
    // The host builds settings, collections, services and env from this very definition.
    setup: (context) => definition.setup(context as PluginContext<S, C, I, E>),
  };
}

function erased<S extends SettingsSchemas, C extends CollectionDefinitions>(
  part: GuildFilePart<S, C>,
): ErasedGuildFilePart {
  return {
    schema: part.schema,
    // Built from the same definition, as the context of `setup` is.
    read: (context) => part.read(context as GuildFileContext<S, C>),
    problemsOf: (value, context) => part.problemsOf(value, context as GuildFileContext<S, C>),
    write: (value, context) => part.write(value, context as GuildFileContext<S, C>),
  };
}

/** The properties of a plugin that are known before it runs. */
export interface Manifest {
  /** Lower case letters, digits and `-`, at most 32; unique in the host. */
  readonly id: string;
  /** Semantic version. */
  readonly version: string;
  readonly description: string;
  readonly author?: string;
  /** Semantic version range of hosts it runs on. */
  readonly host?: string;
  /** Gateway intents that its listeners require; the bot requests the union of all. */
  readonly intents?: readonly GatewayIntentsString[];
  /** Optional intents: listeners get more events when another plugin, or the owner, makes the bot request them. */
  readonly optionalIntents?: readonly GatewayIntentsString[];
  /** Discord permissions that the bot needs for this plugin. */
  readonly permissions?: readonly PermissionsString[];
  /** Hosts that it connects to, for people who decide whether to run it: `api.example.org`. This is not enforced. */
  readonly hosts?: readonly string[];
  /** Set when tools must not run without it: while it is enabled but not running, every tool call is refused. */
  readonly guard?: boolean;
  /** `false`: disabled in a guild until an admin enables it. By default it is enabled. */
  readonly enabledByDefault?: boolean;
  /** A consequence of disabling it in a guild, other than that its commands are missing: shown in the question before it is disabled. */
  readonly disabling?: string;
  /** Set when its commands are about the bot itself (settings, costs, help): their answers are notices, which no model reads. */
  readonly administrative?: boolean;
  /** Set when the bot could not be administered without it: it can be neither disabled in a guild nor unloaded. */
  readonly required?: boolean;
}

/**
 * The environment variables that a plugin reads: validated at start, with errors that name the variable. Mark secrets with `.meta({ secret: true })`. A loose
 * object gets all variables, for those whose names are in the settings.
 */
export type EnvSchema = z.ZodObject;
