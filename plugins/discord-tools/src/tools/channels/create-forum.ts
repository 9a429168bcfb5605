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
  name: channelNameField,
  topic: topicField,
  categoryId: inCategoryField,
  reason: reasonField,
});

export function createForumChannel(parts: Parts): ToolDefinition<typeof input, CreatedChannel> {
  const tool = 'discord_create_forum_channel';
  return {
    name: tool,
    description: 'Create a forum channel.',
    input,
    risk: 'write',
    access: { member: MANAGING, bot: MANAGING },
    place: ({ guildId, categoryId }) => categoryPlace(parts.client, guildId, categoryId),
    examples: ['create a forum called {name} in server {guildId}'],
    present: {
      sentence: ({ name }) => `I'll create the forum channel ${name}`,
      said: ['name'],
      action: 'Create forum channel',
      success: (_, created) => createdText('forum channel', created),
      cancelled: ({ name }) => `Cancelled creating the forum channel ${name}.`,
    },
    run({ guildId, name, categoryId, topic, reason }, { actor }) {
      const wanted = {
        guildId,
        name,
        categoryId,
        type: ChannelType.GuildForum,
        ...(topic === undefined ? {} : { topic }),
      } as const;
      return createChannel(parts, { actor, tool }, wanted, reason);
    },
  };
}
