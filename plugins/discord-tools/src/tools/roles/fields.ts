import { UserError, z } from '@cinnabar/sdk';
import { permissionsField } from '../../reaching/permissions.js';

/** What managing roles needs, of who asks and of the bot. */
export const MANAGING_ROLES = ['ManageRoles'] as const;

export const colorField = z
  .union([z.string().max(10), z.number().int().min(0).max(0xffffff)])
  .optional()
  .describe('The colour: #ff8800, or as a number; 0: none');
export const hoistField = z.boolean().optional().describe('Whether its members are listed apart');
export const mentionableField = z.boolean().optional().describe('Whether everybody may mention it');
export const rolePermissionsField = permissionsField
  .optional()
  .describe('All permissions of the role, such as ManageMessages; never one that you lack');

export interface RoleResult {
  readonly id: string;
  readonly name: string;
}

/** `#ff8800` or `ff8800` as a number. @throws UserError */
export function readColor(color: string | number): number {
  if (typeof color === 'number') return color;
  const hex = /^#?([0-9a-f]{6})$/i.exec(color.trim())?.[1];
  if (hex === undefined) throw new UserError('A colour is given as #ff8800, or as a number.');
  return Number.parseInt(hex, 16);
}
