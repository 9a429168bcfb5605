import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { PermissionsBitField } from 'discord.js';
import type { Parts } from '../../parts.js';
import { channelField, reasonField, roleField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { requireHeld } from '../../reaching/rank.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, channelRoleInSentence, nameText } from '../../reading/names.js';
import { governed, type Overwritten, PERMITTING } from './overwrites.js';

const input = z.object({ channelId: channelField, roleId: roleField, reason: reasonField });

export function removeChannelPermissions(parts: Parts): ToolDefinition<typeof input, Overwritten> {
  const tool = 'discord_remove_channel_permissions';
  return {
    name: tool,
    description: 'Take back everything that a channel or category allows or denies to a role.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: PERMITTING, bot: PERMITTING },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    present: {
      sentence: ({ channelId, roleId }) =>
        `I'll take back the permissions of ${channelRoleInSentence(parts.client, channelId, roleId)} in ${channelInSentence(parts.client, channelId)}`,
      action: 'Remove channel permissions',
      success: (_, { channelId, role }) =>
        `✓ ${nameText(role)} has no permissions of its own in <#${channelId}> any more.`,
      cancelled: () => 'Cancelled changing permissions.',
    },
    async run({ channelId, roleId, reason }, { actor }) {
      const { channel, role, held } = await governed(parts, actor, channelId, roleId);
      const own = channel.permissionOverwrites.cache.get(role.id);
      if (own === undefined) throw new UserError('That role has no permissions of its own in this channel.');
      requireHeld(held, new PermissionsBitField(own.allow.bitfield | own.deny.bitfield));
      await own.delete(auditReason(parts, { actor, tool }, reason));
      return { channelId: channel.id, role: role.name };
    },
  };
}
