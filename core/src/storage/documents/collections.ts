import {
  CinnabarError,
  type Collection,
  type CollectionDefinition,
  type Document,
  type DocumentChange,
  type HasId,
  type MemberKey,
  type z,
} from '@cinnabar/sdk';
import { type DocumentPath, keyFor, nameOf, type Stored, type Whose } from '../driver.js';
import { peopleIn } from '../personal-data.js';
import {
  createEntries,
  type DocumentStore,
  type Entry,
  InvalidDocument,
  invalid,
  type Shape,
} from './document-store.js';

/** Limit of prefetched documents: more could displace one another from the cache when they are large. */
const READ_AT_ONCE = 25;

/** A plugin's collection of the documents below `prefix`. */
export function openCollection<S extends z.ZodObject>(
  store: DocumentStore,
  definition: CollectionDefinition<S>,
  prefix: DocumentPath,
  /** The documents for which `watch` reports changes by other processes. */
  watched: Whose = definition.shared === true ? 'all' : 'own',
): Collection<z.output<S>> {
  const entries = createEntries(store, collectionShape(definition));
  const { shared: isShared = false } = definition;
  const listeners = new Set<(key: string, change: DocumentChange) => void>();
  let stopFollowing: () => void = () => undefined;
  const announce = (path: DocumentPath, isRemote = false) => {
    const key = path.at(-1);
    if (key !== undefined) for (const listener of listeners) listener(key, { isRemote });
  };

  const documentAt = (path: DocumentPath): Document<z.output<S>> => {
    const entry = entries(path);
    const orDefaults = (found: z.output<S> | undefined): z.output<S> => {
      if (found !== undefined) return found;
      const defaults = definition.schema.safeParse({});
      if (defaults.success) return structuredClone(defaults.data);
      throw new CinnabarError('CINNABAR_DOCUMENT_MISSING', { document: nameOf(path) });
    };
    const save = async (body: (found: z.output<S> | undefined) => Promise<z.output<S>>) => {
      const value = await saved(entry, path, body);
      announce(path);
      return value;
    };
    return {
      find: () => entry.read(),
      get: async () => orDefaults(await entry.read()),
      set: (value) => save(async () => value),
      update: (change) =>
        save(async (found) => {
          const draft = orDefaults(found);
          await change(draft);
          return draft;
        }),
      async delete(matches = () => true) {
        await entry.change(async (found) => (found === undefined || matches(found) ? undefined : found));
        announce(path);
      },
    };
  };

  return {
    of: (key: HasId | MemberKey) => documentAt([...prefix, keyFor(definition.scope, key)]),
    async *entries() {
      const paths = await store.list(prefix, isShared ? 'all' : 'own');
      for (let at = 0; at < paths.length; at += READ_AT_ONCE) {
        const batch = paths.slice(at, at + READ_AT_ONCE);
        await store.preload(batch);
        for (const path of batch) {
          const value = await entries(path).read();
          const key = path.at(-1);
          if (value !== undefined && key !== undefined) yield [key, value];
        }
      }
    },
    watch(listener) {
      if (listeners.size === 0)
        stopFollowing = store.watch(prefix, (path, isOwn) => {
          if (isOwn || watched === 'all') announce(path, true);
        });
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stopFollowing();
      };
    },
  };
}

async function saved<T>(
  entry: Entry<T | undefined>,
  path: DocumentPath,
  body: (found: T | undefined) => Promise<T>,
): Promise<T> {
  try {
    const value = await entry.change(body);
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

/**
 * The shape of a collection's documents: `undefined` when not stored, otherwise validated with defaults; an old version is migrated in memory until it is
 * saved.
 */
function collectionShape<S extends z.ZodObject>(definition: CollectionDefinition<S>): Shape<z.output<S> | undefined> {
  const next = definition.version + 1;
  const { personal } = definition;
  return {
    people: (value) => (value === undefined || typeof personal !== 'object' ? [] : peopleIn(value, personal)),
    version: definition.version,
    remedy: `If the plugin's schema of it has changed: raise the collection's version to ${next}, and add migrations[${next}]`,
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

/**
 * Migrates a document step by step from its stored version to this one. A version without a step needs only defaults. When a step throws, the plugin is
 * defective and not the document, which is kept unchanged.
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
