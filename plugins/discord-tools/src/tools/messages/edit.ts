import { editOwn, type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { messageOf } from '../../reaching/channels.js';
import { channelField, messageField } from '../../reaching/fields.js';
import { demand } from '../../reaching/may.js';
import { messagePlace, placeOf } from '../../reaching/places.js';
import { type MessageAt, messageAt } from '../../reading/message.js';
import { messageChannelInSentence } from '../../reading/names.js';
import { mannerOf } from '../../sending/manner.js';
import { messagesFor } from '../../sending/spoken-for.js';

const MESSAGE_LIMIT = 2000;
const input = z.object({
  channelId: channelField,
  messageId: messageField,
  content: z.string().min(1).max(MESSAGE_LIMIT).describe('The new text, at most 2,000 characters'),
});

export function editMessage(parts: Parts): ToolDefinition<typeof input, MessageAt> {
  const tool = 'discord_edit_message';
  return {
    name: tool,
    description: 'Replace the text of a message that was sent with discord_send or discord_reply_to_forum.',
    input,
    risk: 'write',
    idempotent: true,
    access: { member: ['ViewChannel', 'SendMessages'], bot: ['ViewChannel', 'SendMessages'] },
    place: ({ channelId, messageId }) => messagePlace(parts.client, channelId, messageId),
    examples: [
      'edit message {messageId} in {channelId} to {content}',
      'change message {messageId} in {channelId} to {content}',
    ],
    present: {
      sentence: ({ channelId, messageId }) =>
        `I'll edit a message of mine in ${messageChannelInSentence(parts.client, channelId, messageId)}`,
      action: 'Edit message',
      success: (_, { channelId, messageId }) => `✓ Edited message ${messageId} in <#${channelId}>.`,
      cancelled: () => 'Cancelled the edit.',
    },
    async run({ channelId, messageId, content }, { actor }) {
      const caller = { actor, tool };
      const message = await messageOf(parts.client, channelId, messageId);
      const [text = '', ...more] = await messagesFor(parts, caller, message.guildId, content);
      if (more.length > 0) throw new UserError('The text has to fit into one message.');
      const whose = await parts.sent.whose(message.channelId, message.id, actor);
      // Cards, answers and notices say what others decided or rely on: nobody rewrites those.
      if (whose === 'unknown')
        throw new UserError('I only edit messages that were sent with discord_send, and not too long ago.');
      // What is pinned stands for what it said when it was pinned.
      if (message.pinned) throw new UserError('I do not edit pinned messages. Take it off the pins first.');
      if (whose === 'others') await demand(parts, caller, placeOf(message.channel), 'ManageMessages');
      await editOwn(message, { content: text, ...(await mannerOf(parts, caller, message.channel, content)) });
      await parts.sent.remember(message.channelId, [message.id], actor);
      return messageAt(message);
    },
  };
}
