import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { messageOf } from '../../reaching/channels.js';
import { channelField, messageField, reasonField } from '../../reaching/fields.js';
import { messagePlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { type MessageAt, messageAt } from '../../reading/message.js';
import { messageChannelInSentence } from '../../reading/names.js';

const input = z.object({ channelId: channelField, messageId: messageField, reason: reasonField });
const PINNING = ['ViewChannel', 'ReadMessageHistory', 'PinMessages'] as const;

export function pinMessage(parts: Parts): ToolDefinition<typeof input, MessageAt> {
  return pinning(parts, {
    tool: 'discord_pin_message',
    description: 'Pin a message in its channel.',
    verb: 'pin',
    done: 'Pinned',
    examples: ['pin message {messageId} in {channelId}'],
  });
}

export function unpinMessage(parts: Parts): ToolDefinition<typeof input, MessageAt> {
  return pinning(parts, {
    tool: 'discord_unpin_message',
    description: 'Take a pinned message off the pins of its channel.',
    verb: 'unpin',
    done: 'Unpinned',
    examples: ['unpin message {messageId} in {channelId}'],
  });
}

interface Words {
  readonly tool: string;
  readonly description: string;
  readonly verb: 'pin' | 'unpin';
  readonly done: string;
  readonly examples: readonly string[];
}

function pinning(
  parts: Parts,
  { tool, description, verb, done, examples }: Words,
): ToolDefinition<typeof input, MessageAt> {
  return {
    name: tool,
    description,
    input,
    risk: 'write',
    idempotent: true,
    access: { member: PINNING, bot: PINNING },
    place: ({ channelId, messageId }) => messagePlace(parts.client, channelId, messageId),
    examples,
    present: {
      sentence: ({ channelId, messageId }) =>
        `I'll ${verb} a message in ${messageChannelInSentence(parts.client, channelId, messageId)}`,
      action: verb === 'pin' ? 'Pin message' : 'Unpin message',
      success: (_, { channelId, messageId }) => `✓ ${done} message ${messageId} in <#${channelId}>.`,
      cancelled: ({ messageId }) => `Cancelled: message ${messageId} stays as it is.`,
    },
    async run({ channelId, messageId, reason }, { actor }) {
      const message = await messageOf(parts.client, channelId, messageId);
      await message[verb](auditReason(parts, { actor, tool }, reason));
      return messageAt(message);
    },
  };
}
