import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { messageOf } from '../../reaching/channels.js';
import { channelField, messageField } from '../../reaching/fields.js';
import { READING } from '../../reaching/may.js';
import { messagePlace } from '../../reaching/places.js';
import { type MessageView, viewMessage } from '../../reading/message.js';
import { messageText } from '../../reading/message-text.js';
import { messageChannelInSentence } from '../../reading/names.js';
import { messageSources } from '../../reading/sources.js';

const input = z.object({ channelId: channelField, messageId: messageField });

export function readMessage(parts: Parts): ToolDefinition<typeof input, MessageView> {
  return {
    name: 'discord_read_message',
    description:
      'Read one message in full: text, author, time, attachments, embeds, reactions, and which message it answers. Takes a message link, too.',
    input,
    risk: 'read',
    access: { member: READING, bot: READING },
    place: ({ channelId, messageId }) => messagePlace(parts.client, channelId, messageId),
    sources: (message) => messageSources(parts.client, [message]),
    examples: ['read message {messageId} in {channelId}', 'what does message {messageId} in {channelId} say?'],
    present: {
      sentence: ({ channelId, messageId }) =>
        `I'll read a message in ${messageChannelInSentence(parts.client, channelId, messageId)}`,
      action: 'Read message',
      success: (_, message) => messageText(message),
    },
    run: async ({ channelId, messageId }) => viewMessage(await messageOf(parts.client, channelId, messageId)),
  };
}
