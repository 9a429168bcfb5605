import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { guildField, reasonField } from '../../reaching/fields.js';
import { guildOf } from '../../reaching/guilds.js';
import { readPermissions } from '../../reaching/permissions.js';
import { guildPlace } from '../../reaching/places.js';
import { ranksIn, requireHeld } from '../../reaching/rank.js';
import { auditReason } from '../../reaching/reason.js';
import { nameText } from '../../reading/names.js';
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
  name: z.string().trim().min(1).max(100).describe('Name'),
  color: colorField,
  hoist: hoistField,
  mentionable: mentionableField,
  permissions: rolePermissionsField,
  reason: reasonField,
});

export function createRole(parts: Parts): ToolDefinition<typeof input, RoleResult> {
  const tool = 'discord_create_role';
  return {
    name: tool,
    description: 'Create a role, at the bottom of the list. It has no permissions unless some are given.',
    input,
    risk: 'write',
    access: { member: MANAGING_ROLES, bot: MANAGING_ROLES },
    place: ({ guildId }) => guildPlace(guildId),
    examples: ['create a role called {name} in server {guildId}'],
    present: {
      sentence: ({ name }) => `I'll create the role ${name}`,
      said: ['name'],
      action: 'Create role',
      success: (_, { id, name }) => `✓ Created the role ${nameText(name)} (${id}).`,
      cancelled: ({ name }) => `Cancelled creating the role ${name}.`,
    },
    async run({ guildId, name, color, hoist, mentionable, permissions = [], reason }, { actor }) {
      const guild = guildOf(parts.client, guildId);
      const wanted = readPermissions(permissions);
      requireHeld((await ranksIn(guild, actor)).asking.permissions, wanted);
      const role = await guild.roles.create({
        name,
        permissions: wanted,
        ...(color === undefined ? {} : { colors: { primaryColor: readColor(color) } }),
        ...(hoist === undefined ? {} : { hoist }),
        ...(mentionable === undefined ? {} : { mentionable }),
        reason: auditReason(parts, { actor, tool }, reason),
      });
      return { id: role.id, name: role.name };
    },
  };
}
