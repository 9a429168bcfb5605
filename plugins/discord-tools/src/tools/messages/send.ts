import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { sendableChannel } from '../../reaching/channels.js';
import { channelField, textField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { channelInSentence } from '../../reading/names.js';
import { idsText, type Posted, post } from '../../sending/post.js';
import { replyTarget } from '../../sending/reply-target.js';

const input = z.object({
  channelId: channelField,
  message: textField,
  replyToMessageId: z.string().max(200).optional().describe('The message of the same channel to reply to: its id'),
});

export function send(parts: Parts): ToolDefinition<typeof input, Posted> {
  const tool = 'discord_send';
  return {
    name: tool,
    description:
      'Send a message to a channel, thread or direct message, optionally as a reply. Returns the id of each message sent.',
    input,
    risk: 'write',
    access: { member: ['ViewChannel', 'SendMessages'], bot: ['ViewChannel', 'SendMessages'] },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    examples: [
      'send {message} to the channel {channelId}',
      'post {message} in the channel {channelId}',
      'say {message} in the channel {channelId}',
      'write {message} in the channel {channelId}',
      'reply {message} to message {replyToMessageId} in {channelId}',
    ],
    present: {
      sentence: ({ channelId }) => `I'll send a message in ${channelInSentence(parts.client, channelId)}`,
      action: 'Send message',
      labels: { channelId: 'Channel', message: 'Message', replyToMessageId: 'Reply to' },
      success: (_, posted) => `✓ Sent in <#${posted.channelId}>: ${idsText(posted)}.`,
      cancelled: ({ channelId }) => `Cancelled the message in ${channelInSentence(parts.client, channelId)}.`,
    },
    async run({ channelId, message, replyToMessageId }, context) {
      const caller = { actor: context.actor, tool };
      const channel = await sendableChannel(parts.client, channelId);
      const replyTo =
        replyToMessageId === undefined ? undefined : await replyTarget(parts, caller, channel, replyToMessageId);
      return post(parts, caller, context, channel, { text: message, replyTo });
    },
  };
}
