import { CinnabarError, type CollectionScope, type HasId, type MemberKey, type SettingScope, z } from '@cinnabar/sdk';

/** Where a document lives: `['party', 'collections', 'user', 'rosters', '42']`. Segments are free text; a driver encodes them. */
export type DocumentPath = readonly string[];

/** What is stored of a document: plain JSON with the version of its shape. */
export interface Stored {
  readonly version: number;
  readonly data: unknown;
}

/**
 * What a storage medium has to do. Asynchronous, so that a database fits; the callers serialise writes to one document.
 * Every driver passes the one contract suite in `test/core/storage/driver-contract.ts`.
 */
export interface Driver {
  /** `undefined` when there is none. @throws DamagedDocument when what is there cannot be read as a document */
  read(path: DocumentPath): Promise<Stored | undefined>;
  /**
   * Durable when it resolves. Whatever goes wrong, and whenever the process dies, the document is the old one or the new one; the old one when it
   * rejects, unless the medium fails altogether: `read` says which.
   */
  write(path: DocumentPath, stored: Stored): Promise<void>;
  /** Removes the document; copies that were put aside stay. */
  delete(path: DocumentPath): Promise<void>;
  /** Removes the document and every copy of it. */
  erase(path: DocumentPath): Promise<void>;
  /** The paths below `prefix` of which anything is kept, be it only a copy put aside. */
  list(prefix: DocumentPath): Promise<readonly DocumentPath[]>;
  /**
   * Takes a damaged or invalid document out of the way without deleting it. The next `read` gives the last good copy when it differs,
   * else nothing, so at most two calls end in a document that reads or in none. Returns where it was put, `undefined` when nothing was there.
   */
  setAside(path: DocumentPath): Promise<string | undefined>;
  /** Keeps a copy of the document as it is now, named after `label`. Returns where. */
  keep(path: DocumentPath, label: string): Promise<string>;
  close(): Promise<void>;
}

/** Something is stored, but it is not a document any more. */
export class DamagedDocument extends Error {
  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.name = 'DamagedDocument';
  }
}

const envelope = z.object({ version: z.int().min(1), data: z.unknown() });

/** A stored document as text a person can read. Throws a TypeError when the data is not JSON. */
export function encodeStored(stored: Stored): string {
  return `${JSON.stringify({ version: stored.version, data: stored.data }, undefined, 2)}\n`;
}

/** @throws DamagedDocument when the text is not an envelope */
export function decodeStored(text: string): Stored {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new DamagedDocument('it is not JSON', { cause });
  }
  const parsed = envelope.safeParse(json);
  if (!parsed.success || parsed.data.data === undefined) {
    throw new DamagedDocument('it has no version and data');
  }
  return { version: parsed.data.version, data: parsed.data.data };
}

/** The key of the one document of a plugin's global settings. */
const GLOBAL = 'global';

/** Where a plugin's settings of a scope are; `key` is needed but for the global ones. */
export function settingsPath(plugin: string, scope: SettingScope, key: string = GLOBAL): DocumentPath {
  return [plugin, 'settings', scope, key];
}

/** Where a collection's documents are. The scope is part of it, so that a person's data is found without the plugin that wrote it. */
export function collectionPath(plugin: string, scope: string, name: string): DocumentPath {
  return [plugin, 'collections', scope, name];
}

/** What belongs to one person, read from a path alone. */
export interface Personal {
  readonly plugin: string;
  readonly kind: 'settings' | 'collections';
  /** Name of the collection, or the scope of the settings. */
  readonly name: string;
  /** For documents of a member: in which guild. */
  readonly guildId: string | undefined;
}

/** Whose and what a document is; `undefined` when it is not scoped to this user. */
export function personalOf(path: DocumentPath, userId: string): Personal | undefined {
  const [plugin, kind, scope, ...rest] = path;
  const key = rest.at(-1);
  if (plugin === undefined || key === undefined || (kind !== 'settings' && kind !== 'collections')) return undefined;
  const name = kind === 'settings' ? scope : rest[0];
  if (name === undefined || rest.length !== (kind === 'settings' ? 1 : 2)) return undefined;
  if (scope === 'user' && key === userId) return { plugin, kind, name, guildId: undefined };
  const [guildId, memberId] = key.split(':');
  return scope === 'member' && memberId === userId ? { plugin, kind, name, guildId } : undefined;
}

/** In UTF-8: whatever the driver, so that a key that works on one works on all. */
const MAX_KEY_BYTES = 512;

function checked(key: string): string {
  const problem =
    key === ''
      ? 'it is empty'
      : Buffer.byteLength(key) > MAX_KEY_BYTES
        ? `it is longer than ${MAX_KEY_BYTES} bytes`
        : /\p{Surrogate}/u.test(key)
          ? 'it is not well-formed text'
          : undefined;
  if (problem === undefined) return key;
  return refuse(key.slice(0, 60), problem);
}

function refuse(name: string, detail: string): never {
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'document', name, detail });
}

/** `guildId:userId`. */
function memberKey(guildId: string, userId: string): string {
  for (const id of [guildId, userId]) if (id === '' || id.includes(':')) refuse(id, 'it is not an id');
  return checked(`${guildId}:${userId}`);
}

/**
 * The key of a document. The scope decides how it is read, because a channel or a role has a guild just as a member has.
 * @throws CINNABAR_NAME_INVALID for a key that cannot be stored
 */
export function keyFor(scope: CollectionScope, of: HasId | MemberKey): string {
  if (scope === 'member') {
    if (typeof of === 'object' && 'userId' in of) return memberKey(of.guildId, of.userId);
    if (typeof of === 'object' && 'guild' in of) return memberKey(of.guild.id, of.id);
    return refuse(typeof of === 'string' ? of : of.id, 'a member is known by a guild and a user');
  }
  if (typeof of === 'string') return checked(of);
  return 'id' in of ? checked(of.id) : refuse(of.userId, `it is a member, not a ${scope}`);
}

/** A path as people read it in errors and logs. */
export function nameOf(path: DocumentPath): string {
  return path.join('/').replaceAll(/[\p{Cc}\p{Cf}]/gu, '·');
}
