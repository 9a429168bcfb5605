import type { SettingScope } from '@cinnabar/sdk';
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
