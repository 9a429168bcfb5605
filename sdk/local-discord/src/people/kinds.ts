import type { LocalRole } from '../state/role.js';
import type { LocalUser } from '../state/user.js';

/** Tell apart what people choose. By shape, because the user's class itself uses what is in this folder. */

export function isUser(value: unknown): value is LocalUser {
  return typeof value === 'object' && value !== null && 'username' in value && 'dms' in value;
}

export function isRole(value: unknown): value is LocalRole {
  return typeof value === 'object' && value !== null && 'permissions' in value && 'guild' in value;
}
