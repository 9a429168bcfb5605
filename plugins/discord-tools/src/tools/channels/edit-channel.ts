import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import type { GuildChannel } from 'discord.js';
import type { Caller, Parts } from '../../parts.js';
import { categoryChannel, guildChannel } from '../../reaching/channels.js';
import { channelField, reasonField } from '../../reaching/fields.js';
import { may } from '../../reaching/may.js';
import { channelPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { type CreatedChannel, channelNameField, MANAGING, topicField } from './creating.js';

const input = z.object({
  channelId: channelField,
  name: channelNameField.optional(),
  topic: topicField,
  parentId: z.string().max(30).nullable().optional().describe('The category to move it to: its id; null: out of any'),
  position: z.number().int().min(0).max(500).optional().describe('Where in the list, from 0'),
  reason: reasonField,
});

export function editChannel(parts: Parts): ToolDefinition<typeof input, CreatedChannel> {
  const tool = 'discord_edit_channel';
  return {
    name: tool,
    description: 'Change the name, topic, category or position of a channel.',
    input,
    risk: 'write',
    idempotent: true,
    access: { member: MANAGING, bot: MANAGING },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    examples: ['rename the channel {channelId} to {name}', 'set the topic of {channelId} to {topic}'],
    present: {
      sentence: ({ channelId }) => `I'll change the channel ${channelInSentence(parts.client, channelId)}`,
      action: 'Change channel',
      success: (_, { id, name }) => `✓ Changed the channel ${nameText(name)} (${id}).`,
      cancelled: ({ channelId }) => `Cancelled changing ${channelInSentence(parts.client, channelId)}.`,
    },
    async run({ channelId, name, topic, parentId, position, reason }, { actor }) {
      const caller = { actor, tool };
      const channel = await guildChannel(parts.client, channelId);
      const parent = parentId == null ? parentId : await moveTo(parts, caller, channel, parentId);
      const edited = await channel.edit({
        ...(name === undefined ? {} : { name }),
        ...(topic === undefined ? {} : { topic }),
        ...(parent === undefined ? {} : { parent, lockPermissions: false }),
        ...(position === undefined ? {} : { position }),
        reason: auditReason(parts, caller, reason),
      });
      return { id: edited.id, name: edited.name };
    },
  };
}

/** A category that who asks manages as well: a channel is neither moved out of reach nor out of their hands. @throws UserError */
async function moveTo(parts: Parts, caller: Caller, channel: GuildChannel, parentId: string) {
  const place = await channelPlace(parts.client, parentId);
  if (place.guildId !== channel.guildId || !(await may(parts, caller, place, MANAGING, MANAGING))) {
    throw new UserError('There is no category with that id to which it can be moved.');
  }
  return categoryChannel(parts.client, parentId);
}
