import { type ToolDefinition, z } from '@cinnabar/sdk';
import { ChannelType } from 'discord.js';
import type { Parts } from '../../parts.js';
import { guildField, reasonField } from '../../reaching/fields.js';
import { categoryPlace } from '../../reaching/places.js';
import {
  type CreatedChannel,
  channelNameField,
  createChannel,
  createdText,
  inCategoryField,
  MANAGING,
  topicField,
} from './creating.js';

const input = z.object({
  guildId: guildField,
  channelName: channelNameField,
  topic: topicField,
  categoryId: inCategoryField,
  reason: reasonField,
});

export function createTextChannel(parts: Parts): ToolDefinition<typeof input, CreatedChannel> {
  const tool = 'discord_create_text_channel';
  return {
    name: tool,
    description: 'Create a text channel.',
    input,
    risk: 'write',
    access: { member: MANAGING, bot: MANAGING },
    place: ({ guildId, categoryId }) => categoryPlace(parts.client, guildId, categoryId),
    examples: [
      'create a text channel called {channelName} in server {guildId}',
      'make a channel called {channelName} in server {guildId}',
    ],
    present: {
      sentence: ({ channelName }) => `I'll create the text channel ${channelName}`,
      said: ['channelName'],
      action: 'Create text channel',
      success: (_, created) => createdText('text channel', created),
      cancelled: ({ channelName }) => `Cancelled creating the text channel ${channelName}.`,
    },
    run({ guildId, channelName, categoryId, topic, reason }, { actor }) {
      const wanted = {
        guildId,
        name: channelName,
        categoryId,
        type: ChannelType.GuildText,
        ...(topic === undefined ? {} : { topic }),
      } as const;
      return createChannel(parts, { actor, tool }, wanted, reason);
    },
  };
}
