import type { z } from 'zod';
import type { HasId, MemberKey, SettingScope } from './settings.js';
import { defineToken } from './token.js';

export type CollectionScope = SettingScope | 'message';

/** Documents of one shape, one per guild, user, message …; `global` ones have a key of the plugin's own. */
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
   * Whose data the documents hold, beside those whom their scope names (`user`, `member`). The host exports and forgets it. `handled` when the
   * plugin's own `personalData` does: where other stores belong to it, or not all of it may be shown to the person. `none` where the ids of users
   * in it are those of bots, or nothing is said of them. A plugin does not load when documents of another scope have a field such as `userId` and
   * this is left out.
   */
  readonly personal?: PersonalFields | 'handled' | 'none';
  /**
   * Where several processes share the servers among them, each has `entries` and `watch` of the documents that are work of its own servers: by the guild, member, channel
   * or role that they are kept for, else by a `guildId` at the top of the document, or in its `actor`; what has none of these belongs to one of the processes. `true` for what
   * all of them have to know whole, such as tokens: then none may take an entry for work of its own.
   */
  readonly shared?: boolean;
}

/**
 * What of a document belongs to whom: all of it, or with `each` the elements of a list in it.
 * @example
 * cards: { scope: 'global', version: 1, schema: card, personal: { by: 'userId' } },
 * receipts: { scope: 'channel', version: 1, schema: receipts, personal: { each: 'receipts', by: 'actor.userId' } },
 */
export interface PersonalFields {
  /** The list. */
  readonly each?: string;
  /** The field with the user's id (`actor.userId`), or a function from the document, or the element, to the ids of the users it belongs to. */
  readonly by: string | PersonalPart['ownersOf'];
  /** What a person gets of it. @default all of it */
  readonly export?: PersonalPart['shownTo'];
  /** Takes a person out of it where the rest has to stay: changes what it is given. @default it is deleted */
  readonly forget?: PersonalPart['withoutPerson'];
}

/** Methods, so that a plugin may declare what it takes as the shape of its own documents. */
interface PersonalPart {
  ownersOf(part: object): readonly string[];
  shownTo(part: object, userId: string): unknown;
  withoutPerson(part: object, userId: string): void;
}
export type CollectionDefinitions = Readonly<Record<string, CollectionDefinition>>;

/** One document. Writes are validated, serialised per document, and saved before they resolve. */
export interface Document<T> {
  /** `undefined` when it was never saved. */
  find(): Promise<T | undefined>;
  /** The saved document, or the schema's defaults. @throws CINNABAR_DOCUMENT_MISSING when neither exists */
  get(): Promise<T>;
  set(value: T): Promise<T>;
  /** Changes a draft of `get()`. When `change` throws, nothing is saved. Returns what was saved. */
  update(change: (draft: T) => unknown): Promise<T>;
  /** @param matches only while this says so of what is saved: nothing can change it between the question and the deletion */
  delete(matches?: (value: T) => boolean): Promise<void>;
}

/** How a document was changed. */
export interface DocumentChange {
  /** Not through this collection: by another process, or by hand. What is held in memory is to be read anew. */
  readonly isRemote: boolean;
}

export interface Collection<T, Scope extends CollectionScope = CollectionScope> {
  of(key: Scope extends 'member' ? MemberKey : HasId): Document<T>;
  /** Every saved document with its key (`guildId:userId` for members), in no order; see `shared`. */
  entries(): AsyncIterable<readonly [key: string, value: T]>;
  /** Calls back with the key after each change that was saved, also by another process; see `shared`. @returns ends that */
  watch(listener: (key: string, change: DocumentChange) => void): () => void;
}
export type Collections<C extends CollectionDefinitions> = {
  readonly [K in keyof C]: Collection<z.output<C[K]['schema']>, C[K]['scope']>;
};

/** Room for plugins' own files, for what does not fit into documents and journals. */
export interface Files {
  /**
   * Makes the folder `name` below the host's data and resolves with its absolute path. By convention the name is the plugin's id;
   * whoever asks for the same name shares it.
   * @param name lower case letters, digits and `-`, at most 32
   * @throws CINNABAR_NAME_INVALID also for a folder of the host's own
   */
  folder(name: string): Promise<string>;
  /**
   * The same below the host's caches (`CACHE_PATH`): for what can be made or fetched again.
   * @throws CINNABAR_NAME_INVALID also for a folder of the host's own
   */
  cacheFolder(name: string): Promise<string>;
}
export const Files = defineToken<Files>('cinnabar.files');

/** A member's own data that a plugin holds outside collections that declare whose their documents are. */
export interface PersonalData {
  export(userId: string): Promise<unknown>;
  forget(userId: string): Promise<void>;
  /** What stays of a person after that, and why, as a clause for people: "that calls were made, without their words, in the audit". */
  readonly stays?: readonly string[];
}

/** What the bot holds of one person, over all plugins: their collections and what plugins cover themselves. */
export interface PersonalDataStore {
  /** By plugin, JSON-able. */
  export(userId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Deletes it all. Returns how many documents went. */
  forget(userId: string): Promise<number>;
  /** What stays of a person after that, and why. */
  stays(): readonly string[];
}
export const PersonalDataStore = defineToken<PersonalDataStore>('cinnabar.personal-data');
