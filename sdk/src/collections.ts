import type { z } from 'zod';
import type { HasId, MemberKey, SettingScope } from './settings.js';

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
  delete(): Promise<void>;
}

export interface Collection<T, Scope extends CollectionScope = CollectionScope> {
  of(key: Scope extends 'member' ? MemberKey : HasId): Document<T>;
  /** Every saved document with its key (`guildId:userId` for members), in no order. */
  entries(): AsyncIterable<readonly [key: string, value: T]>;
}
export type Collections<C extends CollectionDefinitions> = {
  readonly [K in keyof C]: Collection<z.output<C[K]['schema']>, C[K]['scope']>;
};
