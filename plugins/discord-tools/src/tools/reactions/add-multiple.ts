import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { messageOf } from '../../reaching/channels.js';
import { channelField, messageField } from '../../reaching/fields.js';
import { messagePlace } from '../../reaching/places.js';
import { type MessageAt, messageAt } from '../../reading/message.js';
import { messageChannelInSentence } from '../../reading/names.js';
import { stopWhenCancelled } from '../../sending/cancelled.js';
import { readEmoji, requireUsable } from '../../sending/emoji.js';
import { REACTING } from './reacting.js';

const input = z.object({
  channelId: channelField,
  messageId: messageField,
  emojis: z
    .array(z.string().min(1).max(100))
    .min(1)
    .max(20)
    .describe('The emoji, in order: 👍, <:name:id>, or names of emoji of this server'),
});

export function addMultipleReactions(parts: Parts): ToolDefinition<typeof input, MessageAt> {
  const tool = 'discord_add_multiple_reactions';
  return {
    name: tool,
    description: 'React to a message with several emoji, one after another.',
    input,
    risk: 'write',
    idempotent: true,
    access: { member: REACTING, bot: REACTING },
    place: ({ channelId, messageId }) => messagePlace(parts.client, channelId, messageId),
    present: {
      sentence: ({ channelId, messageId }) =>
        `I'll react to a message in ${messageChannelInSentence(parts.client, channelId, messageId)}`,
      action: 'Add reactions',
      success: ({ emojis }, { channelId, messageId }) =>
        `✓ Reacted with ${emojis.join(' ')} to message ${messageId} in <#${channelId}>.`,
      cancelled: () => 'Cancelled the reactions.',
    },
    async run({ channelId, messageId, emojis }, { actor, signal }) {
      const message = await messageOf(parts.client, channelId, messageId);
      // All of them first: a wrong one must not leave half of the row.
      const read = emojis.map((emoji) => readEmoji(parts.client, message, emoji));
      for (const emoji of read) await requireUsable(parts, { actor, tool }, message, emoji);
      for (const { key } of read) {
        stopWhenCancelled(signal);
        await message.react(key);
      }
      return messageAt(message);
    },
  };
}
