import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { guildChannel } from '../../reaching/channels.js';
import { channelField, reasonField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { type CreatedChannel, MANAGING } from './creating.js';

const input = z.object({ channelId: channelField, reason: reasonField });

export function deleteChannel(parts: Parts): ToolDefinition<typeof input, CreatedChannel> {
  const tool = 'discord_delete_channel';
  return {
    name: tool,
    description: 'Delete a channel with everything in it. This cannot be undone.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: MANAGING, bot: MANAGING },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    examples: ['delete the channel {channelId}'],
    present: {
      sentence: ({ channelId }) =>
        `I'll delete the channel ${channelInSentence(parts.client, channelId)} with everything in it`,
      action: 'Delete channel',
      success: (_, { id, name }) => `✓ Deleted the channel ${nameText(name)} (${id}).`,
      cancelled: ({ channelId }) => `Cancelled deleting ${channelInSentence(parts.client, channelId)}.`,
    },
    async run({ channelId, reason }, { actor }) {
      const channel = await guildChannel(parts.client, channelId);
      await channel.delete(auditReason(parts, { actor, tool }, reason));
      return { id: channel.id, name: channel.name };
    },
  };
}
