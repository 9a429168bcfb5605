import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { readableChannel } from '../../reaching/channels.js';
import { channelField } from '../../reaching/fields.js';
import { READING } from '../../reaching/may.js';
import { channelPlace } from '../../reaching/places.js';
import { type MessageView, viewMessage } from '../../reading/message.js';
import { messagesText } from '../../reading/message-text.js';
import { channelInSentence, channelText } from '../../reading/names.js';
import { messageSources } from '../../reading/sources.js';

const input = z.object({
  channelId: channelField,
  limit: z.number().int().min(1).max(50).default(20).describe('How many, at most 50'),
});

interface Pins {
  readonly channel: string;
  /** The latest pin first. */
  readonly messages: readonly MessageView[];
  readonly more: boolean;
}

export function listPins(parts: Parts): ToolDefinition<typeof input, Pins> {
  return {
    name: 'discord_list_pins',
    description: 'Read the pinned messages of a channel, the latest pin first.',
    input,
    risk: 'read',
    access: { member: READING, bot: READING },
    place: ({ channelId }) => channelPlace(parts.client, channelId),
    sources: ({ messages }) => messageSources(parts.client, messages),
    examples: ['what is pinned in {channelId}?', 'show the pinned messages in {channelId}'],
    present: {
      sentence: ({ channelId }) => `I'll read the pinned messages in ${channelInSentence(parts.client, channelId)}`,
      action: 'Read pinned messages',
      success: (_, { channel, messages, more }) =>
        messages.length === 0
          ? `Nothing is pinned in ${channel}.`
          : `${messages.length}${more ? ' of the' : ''} pinned messages in ${channel}:\n\n${messagesText(messages)}`,
    },
    async run({ channelId, limit }) {
      const channel = await readableChannel(parts.client, channelId);
      const { items, hasMore } = await channel.messages.fetchPins({ limit, cache: false });
      return {
        channel: channelText(channel),
        messages: items.map(({ message }) => viewMessage(message)),
        more: hasMore,
      };
    },
  };
}
