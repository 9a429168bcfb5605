import {
  CinnabarError,
  type Collection,
  type CollectionDefinition,
  type Document,
  type HasId,
  type MemberKey,
  type z,
} from '@cinnabar/sdk';
import type { DocumentPath } from '../driver.js';
import { collectionShape } from './collection-shape.js';
import { keyFor, nameOf } from './path-names.js';
import { InvalidDocument } from './shape.js';
import { createSlots, type Slot } from './slot.js';
import type { Vault } from './vault.js';

/** A plugin's collection over what is stored below `prefix`. */
export function openCollection<S extends z.ZodObject>(
  vault: Vault,
  definition: CollectionDefinition<S>,
  prefix: DocumentPath,
): Collection<z.output<S>> {
  const slots = createSlots(vault, collectionShape(definition));

  const documentAt = (path: DocumentPath): Document<z.output<S>> => {
    const slot = slots(path);
    const orDefaults = (found: z.output<S> | undefined): z.output<S> => {
      if (found !== undefined) return found;
      const defaults = definition.schema.safeParse({});
      if (defaults.success) return structuredClone(defaults.data);
      throw new CinnabarError('CINNABAR_DOCUMENT_MISSING', { document: nameOf(path) });
    };
    return {
      find: () => slot.read(),
      get: async () => orDefaults(await slot.read()),
      set: (value) => saved(slot, path, async () => value),
      update: (change) =>
        saved(slot, path, async (found) => {
          const draft = orDefaults(found);
          await change(draft);
          return draft;
        }),
      async delete() {
        await slot.change(async () => undefined);
      },
    };
  };

  return {
    of: (key: HasId | MemberKey) => documentAt([...prefix, keyFor(definition.scope, key)]),
    async *entries() {
      for (const path of await vault.list(prefix)) {
        const value = await slots(path).read();
        const key = path.at(-1);
        if (value !== undefined && key !== undefined) yield [key, value];
      }
    },
  };
}

async function saved<T>(
  slot: Slot<T | undefined>,
  path: DocumentPath,
  body: (found: T | undefined) => Promise<T>,
): Promise<T> {
  try {
    const value = await slot.change(body);
    if (value !== undefined) return value;
    throw new InvalidDocument('there is nothing to save');
  } catch (error) {
    if (!(error instanceof InvalidDocument)) throw error;
    throw new CinnabarError(
      'CINNABAR_DOCUMENT_INVALID',
      { document: nameOf(path), detail: error.message },
      { cause: error },
    );
  }
}
