import { isDeepStrictEqual } from 'node:util';
import {
  CinnabarError,
  type ConfigLayer,
  type Configuration,
  type Logger,
  matchesWildcard,
  type SettingsDocument,
  t,
  z,
} from '@cinnabar/sdk';
import type { Field } from '../catalog/fields.js';
import type { DocumentPath, Stored } from '../driver.js';
import { nearest } from '../nearest.js';
import { createEntries, type DocumentStore, InvalidDocument, invalid, type Shape } from './document-store.js';

/** The version of every settings document. Settings have no migrations: a key whose meaning changes gets a new name. */
const VERSION = 1;

type Values = Readonly<Record<string, unknown>>;

function isValues(data: unknown): data is Values {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** The chosen values, including keys that this version of the plugin does not declare. */
export function storedValues(stored: Stored | undefined): Values {
  if (stored === undefined) return {};
  if (isValues(stored.data)) return stored.data;
  throw new InvalidDocument('it is not a set of values');
}

export type AnySettings = SettingsDocument<Record<string, unknown>>;

/** The shape of a settings document: the schema's defaults, overridden by presets, overridden by the chosen values. */
function settingsShape<S extends z.ZodObject>(schema: S, presets: Values): Shape<z.output<S>> {
  const known = Object.keys(schema.shape);
  return {
    version: VERSION,
    remedy:
      "If the plugin's schema of it has changed: give the setting another name, or let its schema take the old values, too (z.preprocess)",
    read(stored, document) {
      if (stored !== undefined && stored.version > VERSION) {
        throw new CinnabarError('CINNABAR_DOCUMENT_NEWER', { document, found: stored.version, known: VERSION });
      }
      const set = Object.entries(storedValues(stored)).filter(([key]) => known.includes(key));
      const parsed = schema.safeParse({ ...presets, ...Object.fromEntries(set) });
      if (parsed.success) return parsed.data;
      throw invalid(parsed.error);
    },
  };
}

/** Throws when values may not be set. Called while the document is held, so that changes take effect in their order. */
export type CheckChanges = (changes: Readonly<Record<string, unknown>>) => Promise<void>;

/** Opens the settings document at a path; only chosen values are stored, so that defaults and presets can still change. */
export function openSettings<S extends z.ZodObject>(
  store: DocumentStore,
  schema: S,
  options: { readonly plugin: string; readonly presets?: Readonly<Record<string, unknown>> },
): (path: DocumentPath, check?: CheckChanges) => SettingsDocument<z.output<S>> {
  type Values = z.output<S>;
  const entries = createEntries(store, settingsShape(schema, options.presets ?? {}));
  const keys = Object.keys(schema.shape);

  /** The stored values, with `changes` on top; `undefined` resets a key to its default. */
  const changed = (stored: Stored | undefined, changes: Iterable<readonly [string, unknown]>) => {
    const values = new Map(Object.entries(storedValues(stored)));
    for (const [key, value] of changes) {
      if (!keys.includes(key)) throw unknownSetting(options.plugin, key, keys);
      if (value === undefined) values.delete(key);
      else values.set(key, value);
    }
    return values.size === 0 ? undefined : Object.fromEntries(values);
  };

  return (path, check = async () => undefined) => {
    const entry = entries(path);
    const save = async (
      body: (draft: Values, stored: () => Stored | undefined) => Promise<unknown>,
    ): Promise<Values> => {
      try {
        return await entry.change(body);
      } catch (error) {
        if (!(error instanceof InvalidDocument)) throw error;
        const detail = error.message;
        throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: error.key ?? 'settings', detail }, { cause: error });
      }
    };
    return {
      get: () => entry.read(),
      set: (values) =>
        save(async (_draft, stored) => {
          await check(values);
          return changed(stored(), Object.entries(values));
        }),
      update: (change) =>
        save(async (draft, stored) => {
          const before = new Map<string, unknown>(Object.entries(structuredClone(draft)));
          await change(draft);
          const after = new Map<string, unknown>(Object.entries(draft));
          const touched = [...new Set([...before.keys(), ...after.keys()])].filter(
            (key) => !isDeepStrictEqual(before.get(key), after.get(key)),
          );
          const changes = touched.map((key) => [key, after.get(key)] as const);
          await check(Object.fromEntries(changes));
          return changed(stored(), changes);
        }),
      async reset(key) {
        await save(async (_draft, stored) => (key === undefined ? undefined : changed(stored(), [[key, undefined]])));
      },
    };
  };
}

/** @returns CINNABAR_SETTING_UNKNOWN with the most similar key */
export function unknownSetting(plugin: string, key: string, keys: readonly string[]): CinnabarError {
  const meant = nearest(key, keys);
  const hint =
    meant !== undefined
      ? t('Did you mean "{meant}"?', { meant })
      : keys.length === 0
        ? t('It has no settings.')
        : t('It has {keys}.', { keys: keys.join(', ') });
  return new CinnabarError('CINNABAR_SETTING_UNKNOWN', { plugin, key, hint: ` ${hint}` });
}

/** The maximum that the owner allows the admins of a server to set. */
export interface Ceilings {
  /** By key of the plugin's settings. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Patterns of the models that admins may choose. */
  readonly models: readonly string[];
}

export interface CeilingService {
  /** @param guildId `null`: direct messages */
  of(plugin: string, guildId: string | null): Promise<Ceilings>;
  /** Sets the keys of a plugin's numeric guild settings: any other key in a configuration file is reported as a mistake. */
  declare(plugin: string, keys: readonly string[]): void;
}

/** The host's section of every configuration file. */
export const ceilingsSchema = z.object({
  ceilings: z
    .record(z.string(), z.record(z.string(), z.number().min(0)))
    .optional()
    .describe(
      'What admins may set at most for their servers, by plugin and setting: { tasks: { maxUsd: 10 } }. Narrower files win',
    ),
});

export const NO_CEILINGS: CeilingService = {
  of: async () => ({ numbers: new Map(), models: [] }),
  declare: () => undefined,
};

/** Reads the owner's maximums from the configuration files. Cached by guild until a file changes. Mistakes are logged once each, and count as 0. */
export function createCeilings(configuration: Configuration, log: Logger): CeilingService {
  const known = new Map<string, readonly string[]>();
  const kept = new Map<string | null, Promise<Reading>>();
  const reported = new Set<string>();
  configuration.claim(['ceilings', 'allowedModels']);
  configuration.onChange(() => kept.clear());

  const report = (problem: string) => {
    if (reported.has(problem)) return;
    reported.add(problem);
    log.warn(problem);
  };
  const readingOf = (guildId: string | null): Promise<Reading> => {
    const reading = kept.get(guildId) ?? read(configuration, guildId, report);
    kept.set(guildId, reading);
    return reading;
  };

  return {
    async of(plugin, guildId) {
      const { ceilings, models } = await readingOf(guildId);
      const entries: Entries = ceilings.get(plugin) ?? new Map();
      for (const [key, { place }] of entries) {
        const keys = known.get(plugin) ?? [];
        if (known.has(plugin) && !keys.includes(key)) {
          report(`${place}: admins set no number of that name; there are ${keys.join(', ') || 'none'}`);
        }
      }
      return { numbers: new Map([...entries].map(([key, { most }]) => [key, most])), models };
    },
    declare: (plugin, keys) => void known.set(plugin, keys),
  };
}

type Entries = Map<string, { readonly most: number; readonly place: string }>;

interface Reading {
  readonly ceilings: ReadonlyMap<string, Entries>;
  readonly models: readonly string[];
}

async function read(
  configuration: Configuration,
  guildId: string | null,
  report: (problem: string) => void,
): Promise<Reading> {
  const ceilings = new Map<string, Entries>();
  let models: readonly string[] = [];
  for (const layer of await configuration.layers(guildId)) {
    const { allowedModels } = layer.values;
    if (Array.isArray(allowedModels)) models = allowedModels.filter((pattern) => typeof pattern === 'string');
    readLayer(layer, ceilings, report);
  }
  return { ceilings, models };
}

function readLayer(
  { source, values, lineOf }: ConfigLayer,
  ceilings: Map<string, Entries>,
  report: (problem: string) => void,
): void {
  const placeOf = (path: readonly string[]) => `${source}:${lineOf(path)}: ${path.join('.')}`;
  const keysOf = (path: readonly string[], given: unknown) => {
    if (isValues(given)) return Object.entries(given);
    if (given !== undefined && given !== null) report(`${placeOf(path)}: must be keys with values`);
    return [];
  };
  for (const [plugin, keys] of keysOf(['ceilings'], values.ceilings)) {
    const own: Entries = ceilings.get(plugin) ?? new Map();
    ceilings.set(plugin, own);
    for (const [key, most] of keysOf(['ceilings', plugin], keys)) {
      const place = placeOf(['ceilings', plugin, key]);
      const isNumber = typeof most === 'number' && most >= 0;
      if (!isNumber) report(`${place}: must be a number. Until it is put right, it counts as 0.`);
      own.set(key, { most: isNumber ? most : 0, place });
    }
  }
}

/** The owner's maximum of a setting; `undefined` when there is none. */
export function ceilingOf({ key, ceiling }: Pick<Field, 'key' | 'ceiling'>, { numbers }: Ceilings): number | undefined {
  return numbers.get(key) ?? ceiling;
}

/**
 * A server's settings with the owner's maximums applied: a stored value above its maximum is lowered when it is read.
 * @param ceilings returns the present maximums of the server
 */
export function belowCeilings(
  document: AnySettings,
  bounds: () => readonly Bounds[],
  ceilings: () => Promise<Ceilings>,
): AnySettings {
  const lowered = async (values: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const limits = await ceilings();
    const bounded = bounds().filter(
      (one) => one.key in values && (one.isModel || ceilingOf(one, limits) !== undefined),
    );
    if (bounded.length === 0) return values;
    return { ...values, ...Object.fromEntries(bounded.map((one) => [one.key, lower(one, values[one.key], limits)])) };
  };
  return {
    get: async () => lowered(await document.get()),
    set: async (values) => lowered(await document.set(values)),
    update: async (change) => lowered(await document.update(change)),
    reset: (key) => document.reset(key),
  };
}

/** @throws CINNABAR_SETTING_INVALID for a value above its maximum, or a model that is not allowed */
export async function checkCeilings(
  changes: Readonly<Record<string, unknown>>,
  fields: readonly Field[],
  ceilings: () => Promise<Ceilings>,
): Promise<void> {
  const limits = await ceilings();
  for (const field of fields) {
    const problem = problemOf(field, changes[field.key], limits);
    if (problem !== undefined) throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail: problem });
  }
}

/** How a field's values are lowered. */
interface Bounds extends Pick<Field, 'key' | 'default' | 'isModel' | 'ceiling' | 'noLimit'> {
  readonly least: number | undefined;
}

/** The limits of settings, computed at the first use, since computing them takes too long for a start. */
export function boundsOf(fields: readonly Field[]): () => readonly Bounds[] {
  let bounds: readonly Bounds[] | undefined;
  return () => {
    bounds ??= fields.map(({ key, default: fallback, isModel, ceiling, noLimit, type }) => {
      const least = type.kind === 'number' ? type.min : undefined;
      return { key, default: fallback, isModel, ceiling, noLimit, least };
    });
    return bounds;
  };
}

function lower({ default: fallback, noLimit, least, ...field }: Bounds, value: unknown, limits: Ceilings): unknown {
  if (field.isModel) return typeof value === 'string' && isAllowed(value, limits) ? value : fallback;
  const most = ceilingOf(field, limits);
  if (most === undefined || typeof value !== 'number') return value;
  return value <= most && value !== noLimit ? value : Math.max(most, least ?? most);
}

/** Why a value is refused, as a clause. "No limit" is always accepted, and means the owner's maximum. */
function problemOf(field: Field, value: unknown, limits: Ceilings): string | undefined {
  if (field.isModel && typeof value === 'string' && !isAllowed(value, limits)) {
    return t('the model {model} is not one of those that the owner of the bot allows.', { model: value });
  }
  const most = ceilingOf(field, limits);
  if (most === undefined || typeof value !== 'number' || value <= most) return undefined;
  return t('it may be at most {most}: the owner of the bot has set that ceiling.', { most });
}

function isAllowed(model: string, { models }: Ceilings): boolean {
  return models.some((pattern) => matchesWildcard(model, pattern));
}
