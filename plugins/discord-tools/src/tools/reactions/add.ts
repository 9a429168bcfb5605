import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { messageOf } from '../../reaching/channels.js';
import { channelField, emojiField, messageField } from '../../reaching/fields.js';
import { messagePlace } from '../../reaching/places.js';
import { type MessageAt, messageAt } from '../../reading/message.js';
import { messageChannelInSentence } from '../../reading/names.js';
import { readEmoji, requireUsable } from '../../sending/emoji.js';
import { REACTING } from './reacting.js';

const input = z.object({
  channelId: channelField,
  messageId: messageField,
  emoji: emojiField,
});

export function addReaction(parts: Parts): ToolDefinition<typeof input, MessageAt> {
  const tool = 'discord_add_reaction';
  return {
    name: tool,
    description: 'React to a message with an emoji.',
    input,
    risk: 'write',
    idempotent: true,
    access: { member: REACTING, bot: REACTING },
    place: ({ channelId, messageId }) => messagePlace(parts.client, channelId, messageId),
    examples: [
      'react with {emoji} to message {messageId} in {channelId}',
      'add {emoji} to message {messageId} in {channelId}',
    ],
    present: {
      sentence: ({ channelId, messageId, emoji }) =>
        `I'll react with ${emoji} to a message in ${messageChannelInSentence(parts.client, channelId, messageId)}`,
      said: ['emoji'],
      action: 'Add reaction',
      success: ({ emoji }, { channelId, messageId }) =>
        `✓ Reacted with ${emoji} to message ${messageId} in <#${channelId}>.`,
      cancelled: () => 'Cancelled the reaction.',
    },
    async run({ channelId, messageId, emoji }, { actor }) {
      const message = await messageOf(parts.client, channelId, messageId);
      const read = readEmoji(parts.client, message, emoji);
      await requireUsable(parts, { actor, tool }, message, read);
      await message.react(read.key);
      return messageAt(message);
    },
  };
}
