import { type ToolDefinition, z } from '@cinnabar/sdk';
import { PermissionsBitField, type Role } from 'discord.js';
import type { Parts } from '../../parts.js';
import { guildField, reasonField, roleField } from '../../reaching/fields.js';
import { guildOf, roleOf } from '../../reaching/guilds.js';
import { readPermissions } from '../../reaching/permissions.js';
import { guildPlace } from '../../reaching/places.js';
import { type Ranks, ranksIn, requireAboveRole, requireBelow, requireHeld } from '../../reaching/rank.js';
import { auditReason } from '../../reaching/reason.js';
import { nameText, roleInSentence } from '../../reading/names.js';
import {
  colorField,
  hoistField,
  MANAGING_ROLES,
  mentionableField,
  type RoleResult,
  readColor,
  rolePermissionsField,
} from './fields.js';

const input = z.object({
  guildId: guildField,
  roleId: roleField,
  name: z.string().trim().min(1).max(100).optional().describe('New name'),
  color: colorField,
  hoist: hoistField,
  mentionable: mentionableField,
  permissions: rolePermissionsField,
  position: z.number().int().min(1).max(250).optional().describe('Where in the order of roles; higher is mightier'),
  reason: reasonField,
});

export function editRole(parts: Parts): ToolDefinition<typeof input, RoleResult> {
  const tool = 'discord_edit_role';
  return {
    name: tool,
    description: 'Change a role: name, colour, permissions, position and more. What is not named stays as it is.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: MANAGING_ROLES, bot: MANAGING_ROLES },
    place: ({ guildId }) => guildPlace(guildId),
    examples: ['rename the role {roleId} in server {guildId} to {name}'],
    present: {
      sentence: ({ guildId, roleId }) => `I'll change the role ${roleInSentence(parts.client, guildId, roleId)}`,
      action: 'Change role',
      success: (_, { id, name }) => `✓ Changed the role ${nameText(name)} (${id}).`,
      cancelled: () => 'Cancelled changing the role.',
    },
    async run({ guildId, roleId, name, color, hoist, mentionable, permissions, position, reason }, { actor }) {
      const guild = guildOf(parts.client, guildId);
      const role = roleOf(guild, roleId);
      const ranks = await ranksIn(guild, actor);
      requireAboveRole(ranks, role);
      if (position !== undefined) requireBelow(ranks, position);
      const wanted = permissions === undefined ? undefined : changedPermissions(ranks, role, permissions);
      const edited = await role.edit({
        ...(name === undefined ? {} : { name }),
        ...(wanted === undefined ? {} : { permissions: wanted }),
        ...(color === undefined ? {} : { colors: { primaryColor: readColor(color) } }),
        ...(hoist === undefined ? {} : { hoist }),
        ...(mentionable === undefined ? {} : { mentionable }),
        ...(position === undefined ? {} : { position }),
        reason: auditReason(parts, { actor, tool }, reason),
      });
      return { id: edited.id, name: edited.name };
    },
  };
}

/** Every permission that the role gains or loses has to be one that who asks has. @throws UserError */
function changedPermissions({ asking }: Ranks, role: Role, names: readonly string[]): Readonly<PermissionsBitField> {
  const wanted = readPermissions(names);
  requireHeld(asking.permissions, new PermissionsBitField(role.permissions.bitfield ^ wanted.bitfield));
  return wanted;
}
