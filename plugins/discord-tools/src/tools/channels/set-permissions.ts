import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { PermissionsBitField } from 'discord.js';
import type { Parts } from '../../parts.js';
import { channelField, reasonField, roleField } from '../../reaching/fields.js';
import { permissionsField, readPermissions } from '../../reaching/permissions.js';
import { channelPlace } from '../../reaching/places.js';
import { requireHeld } from '../../reaching/rank.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, channelRoleInSentence, nameText } from '../../reading/names.js';
import { governed, type Overwritten, PERMITTING } from './overwrites.js';

const input = z.object({
  channelId: channelField,
  roleId: roleField.describe("The role: its id; for everyone the server's id"),
  allow: permissionsField.default([]).describe('Permissions to allow there, such as SendMessages'),
  deny: permissionsField.default([]).describe('Permissions to deny there'),
  reason: reasonField,
});

export function setChannelPermissions(parts: Parts): ToolDefinition<typeof input, Overwritten> {
  const tool = 'discord_set_channel_permissions';
  return {
    name: tool,
    description:
      'Allow or deny permissions to a role in one channel or category. Permissions that are not named stay as they are.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: PERMITTING, bot: PERMITTING },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    present: {
      sentence: ({ channelId, roleId }) =>
        `I'll change what ${channelRoleInSentence(parts.client, channelId, roleId)} may do in ${channelInSentence(parts.client, channelId)}`,
      action: 'Change channel permissions',
      success: (_, { channelId, role }) => `✓ Changed what ${nameText(role)} may do in <#${channelId}>.`,
      cancelled: () => 'Cancelled changing permissions.',
    },
    async run({ channelId, roleId, allow, deny, reason }, { actor }) {
      const [allowed, denied] = [readPermissions(allow), readPermissions(deny)];
      if (allow.length + deny.length === 0) throw new UserError('Say which permissions to allow or to deny.');
      if ((allowed.bitfield & denied.bitfield) !== 0n)
        throw new UserError('A permission cannot be both allowed and denied.');
      const { channel, role, held } = await governed(parts, actor, channelId, roleId);
      requireHeld(held, new PermissionsBitField(allowed.bitfield | denied.bitfield));
      const changes = Object.fromEntries([
        ...allowed.toArray().map((name) => [name, true]),
        ...denied.toArray().map((name) => [name, false]),
      ]);
      await channel.permissionOverwrites.edit(role, changes, { reason: auditReason(parts, { actor, tool }, reason) });
      return { channelId: channel.id, role: role.name };
    },
  };
}
