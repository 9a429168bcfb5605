import { CinnabarError, type CollectionDefinition, type z } from '@cinnabar/sdk';
import type { Stored } from '../driver.js';
import { invalid, type Shape } from './shape.js';

/**
 * Takes a document step by step from the version it was stored in to this one. A version without a step changed nothing that defaults do not cover.
 * A step that throws is a defect of the plugin, not of the document, which stays where it is.
 */
function migrate(definition: CollectionDefinition, stored: Stored, name: string): unknown {
  let data = stored.data;
  for (let version = stored.version + 1; version <= definition.version; version += 1) {
    const step = definition.migrations?.[version];
    if (step === undefined) continue;
    try {
      data = step(structuredClone(data));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const detail = `its migration to version ${version} failed (${reason})`;
      throw new CinnabarError('CINNABAR_DOCUMENT_INVALID', { document: name, detail }, { cause });
    }
  }
  return data;
}

/** A collection's documents: `undefined` when never saved, else validated, defaults merged, migrated in memory until it is saved again. */
export function collectionShape<S extends z.ZodObject>(
  definition: CollectionDefinition<S>,
): Shape<z.output<S> | undefined> {
  return {
    version: definition.version,
    read(stored, name) {
      if (stored === undefined) return undefined;
      if (stored.version > definition.version) {
        throw new CinnabarError('CINNABAR_DOCUMENT_NEWER', {
          document: name,
          found: stored.version,
          known: definition.version,
        });
      }
      const parsed = definition.schema.safeParse(migrate(definition, stored, name));
      if (parsed.success) return parsed.data;
      if (stored.version === definition.version) throw invalid(parsed.error);
      const detail = `after its migration from version ${stored.version}, ${invalid(parsed.error).message}`;
      throw new CinnabarError('CINNABAR_DOCUMENT_INVALID', { document: name, detail });
    },
  };
}
