import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { guildField, reasonField, roleField } from '../../reaching/fields.js';
import { guildOf, roleOf } from '../../reaching/guilds.js';
import { guildPlace } from '../../reaching/places.js';
import { ranksIn, requireAboveRole } from '../../reaching/rank.js';
import { auditReason } from '../../reaching/reason.js';
import { nameText, roleInSentence } from '../../reading/names.js';
import { MANAGING_ROLES, type RoleResult } from './fields.js';

const input = z.object({ guildId: guildField, roleId: roleField, reason: reasonField });

export function deleteRole(parts: Parts): ToolDefinition<typeof input, RoleResult> {
  const tool = 'discord_delete_role';
  return {
    name: tool,
    description: 'Delete a role. Whoever has it loses it.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: MANAGING_ROLES, bot: MANAGING_ROLES },
    place: ({ guildId }) => guildPlace(guildId),
    examples: ['delete the role {roleId} in server {guildId}'],
    present: {
      sentence: ({ guildId, roleId }) => `I'll delete the role ${roleInSentence(parts.client, guildId, roleId)}`,
      action: 'Delete role',
      success: (_, { id, name }) => `✓ Deleted the role ${nameText(name)} (${id}).`,
      cancelled: () => 'Cancelled deleting the role.',
    },
    async run({ guildId, roleId, reason }, { actor }) {
      const guild = guildOf(parts.client, guildId);
      const role = roleOf(guild, roleId);
      requireAboveRole(await ranksIn(guild, actor), role);
      await role.delete(auditReason(parts, { actor, tool }, reason));
      return { id: role.id, name: role.name };
    },
  };
}
