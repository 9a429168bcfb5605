import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { messageOf } from '../../reaching/channels.js';
import { channelField, emojiField, messageField } from '../../reaching/fields.js';
import { READING } from '../../reaching/may.js';
import { messagePlace } from '../../reaching/places.js';
import { messageChannelInSentence, nameText } from '../../reading/names.js';
import { reactionOf, readEmoji } from '../../sending/emoji.js';

const input = z.object({
  channelId: channelField,
  messageId: messageField,
  emoji: emojiField,
  limit: z.number().int().min(1).max(100).default(100).describe('How many users, at most 100'),
});

interface Reactors {
  readonly users: readonly { readonly id: string; readonly name: string; readonly bot: boolean }[];
}

export function getReactionUsers(parts: Parts): ToolDefinition<typeof input, Reactors> {
  return {
    name: 'discord_get_reaction_users',
    description: 'List who reacted to a message with an emoji.',
    input,
    risk: 'read',
    access: { member: READING, bot: READING },
    place: ({ channelId, messageId }) => messagePlace(parts.client, channelId, messageId),
    examples: ['who reacted with {emoji} to message {messageId} in {channelId}?'],
    present: {
      sentence: ({ channelId, messageId }) =>
        `I'll look up who reacted to a message in ${messageChannelInSentence(parts.client, channelId, messageId)}`,
      action: 'List reactions',
      success: ({ emoji }, { users }) =>
        users.length === 0
          ? `Nobody reacted with ${emoji}.`
          : `${users.length} reacted with ${emoji}:\n${users.map(({ id, name }) => `${nameText(name)} (user ${id})`).join('\n')}`,
    },
    async run({ channelId, messageId, emoji, limit }) {
      const message = await messageOf(parts.client, channelId, messageId);
      const reaction = reactionOf(message, readEmoji(parts.client, message, emoji));
      const users = await reaction?.users.fetch({ limit });
      return { users: users?.map(({ id, displayName, bot }) => ({ id, name: displayName, bot })) ?? [] };
    },
  };
}
