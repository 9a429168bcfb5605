import type { z } from 'zod';
import type { HasId, MemberKey, SettingScope } from './settings.js';
import { defineToken } from './token.js';

export type CollectionScope = SettingScope | 'message';

/** Documents of one shape, one per guild, user, message …; `global` ones have keys that the plugin chooses. */
export interface CollectionDefinition<
  S extends z.ZodObject = z.ZodObject,
  Scope extends CollectionScope = CollectionScope,
> {
  readonly scope: Scope;
  readonly schema: S;
  /** Whole number from 1, raised when the shape changes. */
  readonly version: number;
  /** `migrations[n]` turns a document of version n-1 into one of version n. */
  readonly migrations?: Readonly<Record<number, (document: unknown) => unknown>>;
  /**
   * The members whose data the documents contain, in addition to those in their scope (`user`, `member`). The host exports and deletes these data. `handled`
   * when the plugin's own `personalData` does: where other stores belong to it, or not all of it may be shown to the person. `none` when the user ids in them
   * are those of bots, or they contain no data about users. A plugin does not load when documents of another scope have a field such as `userId` and this is
   * left out.
   */
  readonly personal?: PersonalFields | 'handled' | 'none';
  /**
   * With several processes, `entries` and `watch` of each contain the documents of its own servers: by the guild, member, channel or role of their key,
   * otherwise by a `guildId` at the top of the document, or in its `actor`; documents without one belong to one of the processes. `true` when all processes
   * need all documents, such as tokens: then an entry must not be treated as work for this process. `false` when one process may have all documents although
   * they name channels or guilds: `cinnabar check` warns about such documents without a `guildId`.
   */
  readonly shared?: boolean;
}

/**
 * Which parts of a document belong to which member: all of it, or with `each` the elements of a list in it.
 * @example
 * cards: { scope: 'global', version: 1, schema: card, personal: { by: 'userId' } },
 * receipts: { scope: 'channel', version: 1, schema: receipts, personal: { each: 'receipts', by: 'actor.userId' } },
 */
export interface PersonalFields {
  /** The list. */
  readonly each?: string;
  /** The field with the user's id (`actor.userId`), or a function from the document, or the element, to the ids of the users it belongs to. */
  readonly by: string | PersonalPart['ownersOf'];
  /** The part that a person gets in their export. @default all of it */
  readonly export?: PersonalPart['shownTo'];
  /** Removes a person when the rest has to stay: changes the given value. @default it is deleted */
  readonly forget?: PersonalPart['withoutPerson'];
}

/** Declared as methods, so that a function's parameter may name only the part of a document that the function needs. */
interface PersonalPart {
  ownersOf(part: object): readonly string[];
  shownTo(part: object, userId: string): unknown;
  withoutPerson(part: object, userId: string): void;
}
export type CollectionDefinitions = Readonly<Record<string, CollectionDefinition>>;

/** One document. Writes are validated, serialised per document, and durable when they resolve. */
export interface Document<T> {
  /** `undefined` when it was never saved. */
  find(): Promise<T | undefined>;
  /** The saved document, or the schema's defaults. @throws CINNABAR_DOCUMENT_MISSING when neither exists */
  get(): Promise<T>;
  set(value: T): Promise<T>;
  /** Changes a draft of `get()`. When `change` throws, nothing is saved. Returns the saved value. */
  update(change: (draft: T) => unknown): Promise<T>;
  /** @param matches deletes only if this is true for the saved value; the check and the deletion are atomic */
  delete(matches?: (value: T) => boolean): Promise<void>;
}

/** How a document was changed. */
export interface DocumentChange {
  /** Not through this collection: by another process, or by hand. Values in memory have to be read again. */
  readonly isRemote: boolean;
}

/** A plugin's stored documents of one shape. */
export interface Collection<T, Scope extends CollectionScope = CollectionScope> {
  of(key: Scope extends 'member' ? MemberKey : HasId): Document<T>;
  /** Every saved document with its key (`guildId:userId` for members), in no order; see `shared`. */
  entries(): AsyncIterable<readonly [key: string, value: T]>;
  /** Calls back with the key after each saved change, also by another process; see `shared`. @returns a function that stops this */
  watch(listener: (key: string, change: DocumentChange) => void): () => void;
}
export type Collections<C extends CollectionDefinitions> = {
  readonly [K in keyof C]: Collection<z.output<C[K]['schema']>, C[K]['scope']>;
};

/** Folders for plugins' own files that do not fit into documents and journals. */
export interface Files {
  /**
   * Makes the folder `name` below the host's data and resolves with its absolute path. By convention the name is the plugin's id; plugins that use the same
   * name share it.
   * @param name lower case letters, digits and `-`, at most 32
   * @throws CINNABAR_NAME_INVALID also for a folder of the host's own
   */
  folder(name: string): Promise<string>;
  /**
   * The same below the host's caches (`CACHE_PATH`): for files that can be made or downloaded again.
   * @throws CINNABAR_NAME_INVALID also for a folder of the host's own
   */
  cacheFolder(name: string): Promise<string>;
}
export const Files = defineToken<Files>('cinnabar.files');

/** A member's data that a plugin holds outside collections that declare their owners. */
export interface PersonalData {
  export(userId: string): Promise<unknown>;
  forget(userId: string): Promise<void>;
  /** Data of a person that remain after `forget`, and why, as a clause for people: "that calls were made, without their words, in the audit". */
  readonly stays?: readonly string[];
}

/** The data about one person, over all plugins: their collections and the plugins' own sources. */
export interface PersonalDataStore {
  /** By plugin, JSON-able. */
  export(userId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Deletes all of it. Returns how many documents were deleted. */
  forget(userId: string): Promise<number>;
  /** Data of a person that remain after `forget`, and why. */
  stays(): readonly string[];
}
export const PersonalDataStore = defineToken<PersonalDataStore>('cinnabar.personal-data');
