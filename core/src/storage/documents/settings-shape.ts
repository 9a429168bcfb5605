import { CinnabarError, type z } from '@cinnabar/sdk';
import type { Stored } from '../driver.js';
import { InvalidDocument, invalid, type Shape } from './shape.js';

/** Settings have no migrations: a key that changes its meaning gets a new name. */
const VERSION = 1;

type Values = Readonly<Record<string, unknown>>;

function isValues(data: unknown): data is Values {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** What was set; keys that this version of the plugin does not know included. */
export function storedValues(stored: Stored | undefined): Values {
  if (stored === undefined) return {};
  if (isValues(stored.data)) return stored.data;
  throw new InvalidDocument('it is not a set of values');
}

/** Schema defaults, then presets, then what was set. */
export function settingsShape<S extends z.ZodObject>(schema: S, presets: Values): Shape<z.output<S>> {
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
