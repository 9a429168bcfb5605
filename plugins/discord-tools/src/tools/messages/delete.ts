import { deleteOwn, isOwnWebhookMessage, type ToolDefinition, z } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import { Routes } from 'discord.js';
import type { Caller, Parts } from '../../parts.js';
import { messageOf } from '../../reaching/channels.js';
import { channelField, messageField, reasonField } from '../../reaching/fields.js';
import { demand } from '../../reaching/may.js';
import { messagePlace, placeOf } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { type MessageAt, messageAt } from '../../reading/message.js';
import { messageChannelInSentence } from '../../reading/names.js';

const input = z.object({ channelId: channelField, messageId: messageField, reason: reasonField });

export function deleteMessage(parts: Parts): ToolDefinition<typeof input, MessageAt> {
  const tool = 'discord_delete_message';

  /** Members delete what they said themselves, and what the bot said for them. */
  const isTheirs = async (message: Message, { actor }: Caller) =>
    message.author.id === actor.userId || (await parts.sent.whose(message.channelId, message.id, actor)) === 'own';

  return {
    name: tool,
    description: 'Delete a message.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: ['ViewChannel', 'ReadMessageHistory'], bot: ['ViewChannel', 'ReadMessageHistory'] },
    place: ({ channelId, messageId }) => messagePlace(parts.client, channelId, messageId),
    examples: ['delete message {messageId} in {channelId}', 'remove message {messageId} from {channelId}'],
    present: {
      sentence: ({ channelId, messageId }) =>
        `I'll delete a message in ${messageChannelInSentence(parts.client, channelId, messageId)}`,
      action: 'Delete message',
      success: (_, { channelId, messageId }) => `✓ Deleted message ${messageId} in <#${channelId}>.`,
      cancelled: ({ messageId }) => `Cancelled deleting message ${messageId}.`,
    },
    async run({ channelId, messageId, reason }, { actor }) {
      const caller = { actor, tool };
      const message = await messageOf(parts.client, channelId, messageId);
      const theirs = await isTheirs(message, caller);
      if (!theirs) await demand(parts, caller, placeOf(message.channel), 'ManageMessages');
      // What an agent said under its own name takes no right of the bot's to delete, and leaves no entry in the audit log.
      if (theirs && isOwnWebhookMessage(message)) {
        await deleteOwn(message);
        return messageAt(message);
      }
      // Not `message.delete()`, which takes no reason.
      const options = { reason: auditReason(parts, caller, reason) };
      await parts.client.rest.delete(Routes.channelMessage(message.channelId, message.id), options);
      return messageAt(message);
    },
  };
}
