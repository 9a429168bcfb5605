import { CinnabarError, type CollectionScope, type HasId, type MemberKey, type SettingScope } from '@cinnabar/sdk';
import type { DocumentPath } from '../driver.js';

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
