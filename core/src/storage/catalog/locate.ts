import {
  type Actor,
  CinnabarError,
  type HasId,
  type MemberKey,
  SETTING_SCOPES,
  type SettingScope,
} from '@cinnabar/sdk';
import { unknownSetting } from '../documents/settings.js';
import type { Field } from './fields.js';

/** A setting that was named, and whose it is. */
export interface Located {
  readonly field: Field;
  /** Which role, for settings by role. */
  readonly roleId: string | undefined;
}

/** Which document of a scope an actor's place means; `undefined` when the scope has none there. */
export function documentOf(
  scope: SettingScope,
  actor: Actor,
  roleId?: string,
): { readonly of?: HasId | MemberKey } | undefined {
  switch (scope) {
    case 'global':
      return {};
    case 'guild':
      return actor.guildId === null ? undefined : { of: actor.guildId };
    case 'channel':
      return { of: actor.channelId };
    case 'role':
      return roleId === undefined ? undefined : { of: roleId };
    case 'user':
      return { of: actor.userId };
    case 'member':
      return actor.guildId === null ? undefined : { of: { guildId: actor.guildId, userId: actor.userId } };
  }
}

/** How a setting is named: by its key, with the scope in front when several scopes have that key. */
export function shownKey(field: Field, fields: readonly Field[]): string {
  return fields.filter(({ key }) => key === field.key).length > 1 ? `${field.scope}.${field.key}` : field.key;
}

export function scopeNamed(text: string): SettingScope | undefined {
  return SETTING_SCOPES.find((scope) => scope === text.toLowerCase());
}

/**
 * Finds what was named: `style`, `guild.style`, `role.<id or mention>.style`; upper and lower case do not matter where it is clear.
 * @throws CINNABAR_SETTING_UNKNOWN with the nearest name
 * @throws CINNABAR_SETTING_INVALID when several settings have that name
 */
export function locate(plugin: string, fields: readonly Field[], named: string): Located {
  const key = named.trim();
  const plain = matching(fields, key);
  if (plain.length > 0) return { field: oneOf(plain, fields, key), roleId: undefined };

  const [head = '', ...rest] = key.split('.');
  const scope = scopeNamed(head);
  const role = scope === 'role' ? /^(?:<@&)?(\d{1,20})>?\.(.+)$/.exec(rest.join('.')) : null;
  const inScope = fields.filter((field) => field.scope === scope);
  const found = matching(inScope, role?.[2] ?? rest.join('.'));
  const [field] = found;
  if (field !== undefined) return { field: found.length === 1 ? field : oneOf(found, fields, key), roleId: role?.[1] };

  throw unknownSetting(plugin, key, [...new Set(fields.map((one) => shownKey(one, fields)))]);
}

function matching(fields: readonly Field[], key: string): readonly Field[] {
  const exact = fields.filter((field) => field.key === key);
  return exact.length > 0 ? exact : fields.filter((field) => field.key.toLowerCase() === key.toLowerCase());
}

function oneOf(found: readonly Field[], fields: readonly Field[], key: string): Field {
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const names = found.map((field) => shownKey(field, fields)).join(' or ');
  throw new CinnabarError('CINNABAR_SETTING_INVALID', { key, detail: `there are several of that name; say ${names}` });
}
