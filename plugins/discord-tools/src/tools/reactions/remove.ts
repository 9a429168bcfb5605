import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { messageOf } from '../../reaching/channels.js';
import { channelField, emojiField, messageField } from '../../reaching/fields.js';
import { demand, READING } from '../../reaching/may.js';
import { messagePlace, placeOf } from '../../reaching/places.js';
import { readId } from '../../reaching/references.js';
import { type MessageAt, messageAt } from '../../reading/message.js';
import { messageChannelInSentence } from '../../reading/names.js';
import { reactionOf, readEmoji } from '../../sending/emoji.js';

const input = z.object({
  channelId: channelField,
  messageId: messageField,
  emoji: emojiField,
  userId: z.string().max(30).optional().describe('Whose reaction: their user id. By default the bot’s own'),
});

export function removeReaction(parts: Parts): ToolDefinition<typeof input, MessageAt> {
  const tool = 'discord_remove_reaction';
  return {
    name: tool,
    description: "Take a reaction off a message: the bot's own, or with the right to do so somebody else's.",
    input,
    risk: 'write',
    idempotent: true,
    access: { member: READING, bot: READING },
    place: ({ channelId, messageId }) => messagePlace(parts.client, channelId, messageId),
    examples: ['remove the reaction {emoji} from message {messageId} in {channelId}'],
    present: {
      sentence: ({ channelId, messageId }) =>
        `I'll take a reaction off a message in ${messageChannelInSentence(parts.client, channelId, messageId)}`,
      action: 'Remove reaction',
      success: ({ emoji }, { channelId, messageId }) => `✓ Took ${emoji} off message ${messageId} in <#${channelId}>.`,
      cancelled: () => 'Cancelled: the reaction stays.',
    },
    async run({ channelId, messageId, emoji, userId }, { actor }) {
      const message = await messageOf(parts.client, channelId, messageId);
      const me = parts.client.user?.id;
      const whose = userId === undefined ? me : readId(userId, 'user');
      if (whose !== me && whose !== actor.userId) {
        await demand(parts, { actor, tool }, placeOf(message.channel), 'ManageMessages');
      }
      // A reaction that is not there is as good as taken off.
      await reactionOf(message, readEmoji(parts.client, message, emoji))?.users.remove(whose);
      return messageAt(message);
    },
  };
}
