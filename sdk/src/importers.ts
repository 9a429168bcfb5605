import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { Clock } from './clock.js';
import type { CollectionDefinitions, Collections } from './collections.js';
import type { Logger } from './observability.js';
import type { Settings, SettingsDocument, SettingsSchemas } from './settings.js';

/** The data of another bot about one server, in one of its parts. All ids are text. */
export interface ForeignData {
  readonly guild?: Readonly<Record<string, unknown>>;
  /** By the user's id. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** By the channel's id. */
  readonly channels?: Readonly<Record<string, unknown>>;
  /** By the name of the part's kind of data. */
  readonly custom?: Readonly<Record<string, unknown>>;
}

/** The report of an import: each value is in one of these lists. */
export interface ImportFindings {
  taken(what: string): void;
  /** It exists here already, with the same or another value, and is not changed. */
  present(what: string): void;
  leftOut(what: string, why: string): void;
}

/** The context of an importer. The bot does not run: there is neither a client nor services. */
export interface ImportContext<S extends SettingsSchemas, C extends CollectionDefinitions> extends ImportFindings {
  readonly guildId: string;
  readonly settings: Settings<S>;
  readonly collections: Collections<C>;
  /**
   * A line with a command of the other bot, as it is typed here: `cleanup messages 5` as `purge 5`. `undefined` when it does not begin with a known command.
   */
  lineHere(line: string): string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Imports the data of another bot, for one server at a time. */
export interface ImporterDefinition<S extends SettingsSchemas, C extends CollectionDefinitions> {
  readonly program: 'red';
  /** Which of its parts: the name of a cog of Red-DiscordBot. */
  readonly from: string;
  readonly data: z.ZodObject;
  run(data: ForeignData, context: ImportContext<S, C>): Promise<void>;
}

/** An importer with erased types: the host builds its context from the plugin's own declarations. */
export interface ErasedImporter extends Omit<ImporterDefinition<SettingsSchemas, CollectionDefinitions>, 'run'> {
  run(data: ForeignData, context: ErasedImportContext): Promise<void>;
}

export interface ErasedImportContext extends ImportFindings {
  readonly guildId: string;
  readonly settings: object;
  readonly collections: object;
  lineHere(line: string): string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Declares the data that a plugin imports from a cog of Red-DiscordBot. `run` writes through the plugin's own functions and changes nothing when it is
 * repeated. The host reports keys that `data` does not name as left out; the importer reports everything else.
 * @example
 * const selfRoles = redImporter({
 *   from: 'Admin',
 *   data: z.strictObject({ guild: z.strictObject({ selfroles: z.array(z.string()).default([]) }).prefault({}) }),
 *   async run({ guild }, { guildId, collections, taken }) { … },
 * });
 */
export function redImporter<
  D extends z.ZodObject,
  S extends SettingsSchemas,
  C extends CollectionDefinitions,
>(definition: {
  readonly from: string;
  readonly data: D;
  run(data: z.output<D>, context: ImportContext<S, C>): Promise<void>;
}): ImporterDefinition<S, C> {
  const { from, data, run } = definition;
  return { program: 'red', from, data, run: async (given, context) => run(data.parse(given), context) };
}

/**
 * Sets a setting that has no value here yet. An existing value is kept and reported.
 * @param what the name of the other bot's value, for the report
 */
export async function importSetting<T extends Record<string, unknown>, K extends keyof T & string>(
  { document, schema }: { readonly document: SettingsDocument<T>; readonly schema: z.ZodType<T> },
  key: K,
  value: T[K],
  what: string,
  { taken, present, leftOut }: ImportFindings,
): Promise<void> {
  const now = (await document.get())[key];
  if (isDeepStrictEqual(now, value)) return present(what);
  if (!isDeepStrictEqual(now, schema.parse({})[key]))
    return leftOut(what, `${key} is ${JSON.stringify(now)} here already`);
  const changes: Partial<T> = {};
  changes[key] = value;
  await document.set(changes);
  taken(what);
}
