import type { z } from 'zod';
import type { CollectionDefinitions } from './collections.js';
import type { ErasedContext, PluginContext } from './context.js';
import type { EnvSchema } from './environment.js';
import { CinnabarError } from './errors.js';
import type { Manifest } from './manifest.js';
import type { SettingsSchemas } from './settings.js';
import type { Injections, Token } from './token.js';

export interface PluginDefinition<
  S extends SettingsSchemas,
  C extends CollectionDefinitions,
  I extends Injections,
  E extends EnvSchema,
> {
  readonly manifest: Manifest;
  readonly settings?: S;
  readonly collections?: C;
  readonly inject?: I;
  /** The tokens that `setup` provides, known beforehand so that plugins start in the right order. */
  readonly provides?: readonly Token<unknown>[];
  readonly env?: E;
  /** Top-level keys of the YAML files that the plugin reads, for editors and for the host, which claims them while the plugin runs. */
  readonly configuration?: z.ZodObject;
  /** The only entry. Everything it registers is taken back when the plugin stops. */
  setup(context: PluginContext<S, C, I, E>): unknown;
}

/** A plugin with its types checked and then hidden: what the host handles. */
export interface Plugin {
  readonly kind: 'cinnabar-plugin';
  readonly manifest: Manifest;
  readonly settings: SettingsSchemas;
  readonly collections: CollectionDefinitions;
  readonly inject: Injections;
  readonly provides: readonly Token<unknown>[];
  readonly env: EnvSchema | undefined;
  readonly configuration: z.ZodObject | undefined;
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
    // The host builds settings, collections, services and env from this very definition.
    setup: (context) => definition.setup(context as PluginContext<S, C, I, E>),
  };
}
