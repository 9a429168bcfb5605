import { isDeepStrictEqual } from 'node:util';
import { CinnabarError, type SettingsDocument, type z } from '@cinnabar/sdk';
import type { DocumentPath, Stored } from '../driver.js';
import { nearest } from '../nearest.js';
import { createEntries, type DocumentStore, InvalidDocument, invalid, type Shape } from './document-store.js';

/** Settings have no migrations: a key that changes its meaning gets a new name. */
const VERSION = 1;

type Values = Readonly<Record<string, unknown>>;

function isValues(data: unknown): data is Values {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** What was set; keys that this version of the plugin does not know included. */
function storedValues(stored: Stored | undefined): Values {
  if (stored === undefined) return {};
  if (isValues(stored.data)) return stored.data;
  throw new InvalidDocument('it is not a set of values');
}

/** Schema defaults, then presets, then what was set. */
function settingsShape<S extends z.ZodObject>(schema: S, presets: Values): Shape<z.output<S>> {
  const known = Object.keys(schema.shape);
  return {
    version: VERSION,
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

/** Throws when values may not be set. Called in the document's turn, so that changes take effect in the order in which they are made. */
export type CheckChanges = (changes: Readonly<Record<string, unknown>>) => Promise<void>;

/** Opens the settings document at a path; only what was set is stored, so that defaults and presets can still change. */
export function openSettings<S extends z.ZodObject>(
  store: DocumentStore,
  schema: S,
  options: { readonly plugin: string; readonly presets?: Readonly<Record<string, unknown>> },
): (path: DocumentPath, check?: CheckChanges) => SettingsDocument<z.output<S>> {
  type Values = z.output<S>;
  const entries = createEntries(store, settingsShape(schema, options.presets ?? {}));
  const keys = Object.keys(schema.shape);

  /** What is stored, with `changes` on top; `undefined` takes a key back to its default. */
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

/** @returns CINNABAR_SETTING_UNKNOWN with what was probably meant */
export function unknownSetting(plugin: string, key: string, keys: readonly string[]): CinnabarError {
  const meant = nearest(key, keys);
  const hint =
    meant !== undefined
      ? ` Did you mean "${meant}"?`
      : keys.length === 0
        ? ' It has no settings.'
        : ` It has ${keys.join(', ')}.`;
  return new CinnabarError('CINNABAR_SETTING_UNKNOWN', { plugin, key, hint });
}
