import type { Guild, Role } from 'discord.js';
import type { Found } from '../place.js';
import { idIn, only, plainName } from './names.js';

/** A role of the guild by mention, id or name. */
export function findRole(guild: Guild, typed: string): Found<Role> {
  const id = idIn(typed, /^<@&(\d+)>$/);
  const byId = id === undefined ? undefined : guild.roles.cache.get(id);
  if (byId !== undefined) return { value: byId };
  const name = plainName(typed, '@');
  const called = [...guild.roles.cache.values()].filter((role) => plainName(role.name, '@') === name);
  return only(called, 'role', typed, (role) => `${role.name} (${role.id})`);
}
