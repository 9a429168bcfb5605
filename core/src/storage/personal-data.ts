import {
  CinnabarError,
  type Collection,
  type CollectionDefinition,
  type HasId,
  type MemberKey,
  type PersonalData,
  type PersonalFields,
  type SettingScope,
  z,
} from '@cinnabar/sdk';
import type { PersonalDataService, StorageService } from '../contracts.js';
import { type DocumentStore, storedIn } from './documents/document-store.js';
import { type DocumentPath, ownerOf, type Personal, personalOf } from './driver.js';
import type { SubjectIndex } from './subjects.js';

/**
 * Export and deletion of one person's data over all plugins.
 * @param host the host's own data by name, such as the member's tool calls. They come after those of plugins, which may end calls that are still open
 * @param callsAnnounced resolves when the end of every call has been announced
 */
export function createPersonalData(
  storage: StorageService,
  host: Readonly<Record<string, PersonalData>>,
  callsAnnounced: () => Promise<void> = async () => undefined,
): PersonalDataService {
  const sources = new Map<string, Set<Partial<PersonalData>>>();
  return {
    register(owner, data) {
      const set = sources.get(owner.id) ?? new Set();
      const dispose = owner.scope.add('personal data', () => set.delete(data));
      sources.set(owner.id, set.add(data));
      return dispose;
    },
    async export(userId) {
      const stored = await storage.exportUser(userId);
      const own: Record<string, unknown> = {};
      for (const [plugin, set] of sources) {
        const parts: unknown[] = [];
        for (const data of set) if (data.export !== undefined) parts.push(await data.export(userId));
        // A plugin may register several kinds of data, which are listed side by side.
        if (parts.length > 0) own[plugin] = parts.length === 1 ? parts[0] : parts;
      }
      const ofHost: Record<string, unknown> = {};
      for (const [name, data] of Object.entries(host)) ofHost[name] = await data.export(userId);
      const more = Object.entries({ own, ...ofHost }).filter(([, data]) => Object.keys(data ?? {}).length > 0);
      return { ...stored, ...Object.fromEntries(more) };
    },
    stays: () =>
      [...[...sources.values()].flatMap((set) => [...set]), ...Object.values(host)].flatMap(({ stays = [] }) => stays),
    async forget(userId) {
      const failures: unknown[] = [];
      const attempt = (forgetting: Promise<void> | undefined) =>
        forgetting?.catch((error: unknown) => failures.push(error));
      const byPlugins = async () => {
        for (const set of sources.values()) for (const data of set) await attempt(data.forget?.(userId));
      };
      await byPlugins();
      // Repeated after all calls have ended, since deleting one kind of data may make another source write.
      await callsAnnounced();
      await byPlugins();
      for (const data of Object.values(host)) await attempt(data.forget(userId));
      let documents = 0;
      await attempt(
        storage.forgetUser(userId).then((gone) => {
          documents = gone;
        }),
      );
      // Thrown at the end: a failure of one plugin must not prevent other deletions, but the member must learn that not everything was deleted.
      if (failures.length === 1) throw failures[0];
      if (failures.length > 0) throw new AggregateError(failures, 'not everything could be deleted');
      return documents;
    },
  };
}

/** The stored data of a member: documents scoped to the member, also of stopped plugins, and those that collections of running plugins declare. */
export function createStoredPersonalData(options: {
  readonly store: DocumentStore;
  /** Removes secrets from settings, if the plugin was opened in this run. */
  readonly withoutSecrets: (plugin: string, scope: SettingScope, data: unknown) => unknown;
  /** The collections of running plugins that declare to whom their documents belong. */
  readonly declared: () => Iterable<PersonalCollection>;
  readonly subjects: SubjectIndex;
}) {
  const { store, withoutSecrets, declared, subjects } = options;

  const among = (paths: readonly DocumentPath[], userId: string) =>
    paths.flatMap((path) => {
      const personal = personalOf(path, userId);
      return personal === undefined ? [] : [{ path, personal }];
    });
  const find = async (userId: string) => {
    await subjects.complete('scopes', async function* () {
      for (const path of await store.list([])) yield [path, [ownerOf(path) ?? []].flat()];
    });
    const paths = await subjects.find(userId);
    await store.preload(paths);
    return among(paths, userId);
  };

  const shown = ({ plugin, kind, guildId }: Personal, data: unknown): unknown =>
    kind === 'collections'
      ? structuredClone(data)
      : withoutSecrets(plugin, guildId === undefined ? 'user' : 'member', data);

  return {
    /** `{ party: { collections: { rosters: … }, settings: { user: …, member: { <guildId>: … } } } }` */
    async exportUser(userId: string): Promise<Readonly<Record<string, unknown>>> {
      const found: Record<string, Record<string, Record<string, unknown>>> = {};
      const add = (plugin: string, kind: Personal['kind'], name: string, data: (others: unknown) => unknown) => {
        const ofPlugin = found[plugin] ?? {};
        const ofKind = ofPlugin[kind] ?? {};
        found[plugin] = { ...ofPlugin, [kind]: { ...ofKind, [name]: data(ofKind[name]) } };
      };
      for (const { path, personal } of await find(userId)) {
        const stored = storedIn(await store.load(path));
        if (stored === undefined) continue;
        const data = shown(personal, stored.data);
        const { plugin, kind, name, guildId } = personal;
        add(plugin, kind, name, (others) => within(others, guildId, data));
      }
      for (const collection of declared()) {
        const theirs = await collection.export(userId);
        if (Object.keys(theirs).length > 0) add(collection.plugin, 'collections', collection.name, () => theirs);
      }
      return found;
    },
    /**
     * Deletes the documents with all their copies, and the member's part of shared documents. Returns how many documents it removed.
     * @throws CINNABAR_STORAGE_WRITE, or an AggregateError of several, once the rest is gone
     */
    async forgetUser(userId: string): Promise<number> {
      let gone = 0;
      const failures: unknown[] = [];
      const attempt = async (forgetting: () => Promise<number>) => {
        try {
          gone += await forgetting();
        } catch (error) {
          failures.push(error);
        }
      };
      // Documents that are missing in the index are deleted, too.
      for (const { path } of among(await store.list([]), userId)) {
        await attempt(async () => {
          await store.erase(path);
          return 1;
        });
      }
      for (const collection of declared()) await attempt(() => collection.forget(userId));
      if (failures.length === 0) await attempt(() => subjects.forget(userId).then(() => 0));
      if (failures.length === 1) throw failures[0];
      if (failures.length > 0) throw new AggregateError(failures, 'not everything could be deleted');
      return gone;
    },
  };
}

/** Adds a member's document to those of the other guilds; a user's document stands alone. */
function within(others: unknown, guildId: string | undefined, data: unknown): unknown {
  if (guildId === undefined) return data;
  return { ...(typeof others === 'object' ? others : {}), [guildId]: data };
}

/** A collection that declares to whom its documents belong. */
export interface PersonalCollection {
  readonly plugin: string;
  readonly name: string;
  /** A person's documents, or elements of them, by the document's key. */
  export(userId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Returns how many whole documents it removed. */
  forget(userId: string): Promise<number>;
}

/** @throws CINNABAR_PLUGIN_INVALID when the declaration names a field that the documents do not have */
export function personalCollection(
  plugin: string,
  name: string,
  definition: CollectionDefinition,
  collection: Collection<Record<string, unknown>>,
  stored: {
    /** Removes a document with every copy of it. */
    erase(key: string): Promise<void>;
    /** Keys of documents that may contain data about a person. */
    about(userId: string): Promise<readonly string[]>;
  },
): PersonalCollection | undefined {
  const { personal, scope, schema } = definition;
  if (personal === undefined) assertNoUserIds(plugin, name, definition);
  if (personal === undefined || personal === 'handled' || personal === 'none') return undefined;
  const { each, forget } = personal;
  checkFields(plugin, name, personal, schema);
  const isOf = (part: object, userId: string) => ownersOf(part, personal).includes(userId);
  const documentOf = (key: string) => collection.of(keyOf(key, scope));
  const partsOf = (document: Record<string, unknown>) => partsIn(document, personal);

  return {
    plugin,
    name,
    async export(userId) {
      const shown = (part: object) => (personal.export === undefined ? part : personal.export(part, userId));
      const found: Record<string, unknown> = {};
      for (const key of await stored.about(userId)) {
        const document = await documentOf(key).find();
        const theirs = document === undefined ? [] : partsOf(document).filter((part) => isOf(part, userId));
        if (document !== undefined && theirs.length > 0)
          found[key] = each === undefined ? shown(document) : theirs.map(shown);
      }
      return found;
    },
    async forget(userId) {
      let gone = 0;
      for await (const [key, document] of collection.entries()) {
        if (!partsOf(document).some((part) => isOf(part, userId))) continue;
        if (each === undefined && forget === undefined) {
          await stored.erase(key);
          gone += 1;
          continue;
        }
        await documentOf(key).update((draft) => {
          const parts = partsOf(draft);
          if (forget === undefined && each !== undefined) draft[each] = parts.filter((part) => !isOf(part, userId));
          else for (const part of parts) if (isOf(part, userId)) forget?.(part, userId);
        });
      }
      return gone;
    },
  };
}

/** Names of fields that contain user ids. */
const OF_USERS = /(?:user|author|member|speaker|person)_?ids?$/i;

/**
 * @throws CINNABAR_PLUGIN_INVALID when documents of another scope than user or member contain user ids, and the collection does not declare to whom they belong
 */
function assertNoUserIds(plugin: string, name: string, { scope, schema }: CollectionDefinition): void {
  if (scope === 'user' || scope === 'member') return;
  const field = fieldNamed(schema, OF_USERS);
  if (field === undefined) return;
  const isPlain = !/[.[]/.test(field);
  const detail = `its collection "${name}" keeps the ids of users in "${field}" and covers neither export nor deletion. Declare whose its documents are (${
    isPlain ? `\`personal: { by: '${field}' }\`` : '`personal: { each: …, by: … }`'
  }), or \`personal: 'handled'\` and call personalData(…) in setup`;
  throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: plugin, detail });
}

/** The parts of a document that can belong to different people. */
function partsIn(document: object, { each }: PersonalFields): readonly object[] {
  if (each === undefined) return [document];
  const list: unknown = Reflect.get(document, each);
  return Array.isArray(list) ? list : [];
}

function ownersOf(part: object, { by }: PersonalFields): readonly string[] {
  if (typeof by === 'function') return by(part);
  let at: unknown = part;
  for (const field of by.split('.')) at = typeof at === 'object' && at !== null ? Reflect.get(at, field) : undefined;
  return typeof at === 'string' ? [at] : [];
}

/** All members whose data a document contains. */
export const peopleIn = (document: object, personal: PersonalFields): readonly string[] => [
  ...new Set(partsIn(document, personal).flatMap((part) => ownersOf(part, personal))),
];

/** Checks the paths in a declaration, which the compiler does not. @throws CINNABAR_PLUGIN_INVALID */
function checkFields(plugin: string, name: string, { each, by }: PersonalFields, schema: z.ZodObject): void {
  const list = each === undefined ? schema : inner(schema.shape[each]);
  const part = each === undefined ? schema : list instanceof z.ZodArray ? inner(list.element) : undefined;
  let at: unknown = part;
  if (typeof by === 'string')
    for (const field of by.split('.')) at = at instanceof z.ZodObject ? inner(at.shape[field]) : undefined;
  if (part !== undefined && at !== undefined) return;
  const detail = `its collection "${name}" says that its documents belong to people by ${
    part === undefined ? `the list "${each}"` : `the field "${by}"`
  }, which they do not have`;
  throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: plugin, detail });
}

/** A document's key in the form for `of`. */
function keyOf(key: string, scope: CollectionDefinition['scope']): HasId | MemberKey {
  const [guildId = '', userId = ''] = key.split(':');
  return scope === 'member' ? { guildId, userId } : key;
}

/** The first field whose name matches; `[]` stands for the elements of a list or map: `grants[].guildId`. */
export function fieldNamed(schema: z.ZodObject, name: RegExp): string | undefined {
  return firstBelow(schema, '', name, new Set());
}

function firstBelow(schema: unknown, path: string, name: RegExp, seen: Set<unknown>): string | undefined {
  const at = inner(schema);
  if (seen.has(at)) return undefined;
  seen.add(at);
  const among = (parts: Iterable<readonly [string, unknown]>) => {
    for (const [place, part] of parts) {
      const found = firstBelow(part, place, name, seen);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  if (at instanceof z.ZodObject) {
    const fields = Object.entries(at.shape).map(([key, part]) => [path === '' ? key : `${path}.${key}`, part] as const);
    const named = fields.find(([place]) => name.test(place.split('.').at(-1) ?? ''));
    return named?.[0] ?? among(fields);
  }
  if (at instanceof z.ZodArray) return among([[`${path}[]`, at.element]]);
  if (at instanceof z.ZodRecord) return among([[`${path}[]`, at.valueType]]);
  if (at instanceof z.ZodUnion) return among(at.options.map((one) => [path, one] as const));
  return undefined;
}

/** A schema without its wrappers: defaults, `optional`, `nullable`, `readonly`. */
export function inner(schema: unknown): unknown {
  let at = schema;
  while (
    at instanceof z.ZodDefault ||
    at instanceof z.ZodOptional ||
    at instanceof z.ZodNullable ||
    at instanceof z.ZodReadonly
  )
    at = at.unwrap();
  return at;
}
