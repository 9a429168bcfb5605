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
} from './creating.js';

const input = z.object({
  guildId: guildField,
  channelName: channelNameField,
  categoryId: inCategoryField,
  userLimit: z.number().int().min(0).max(99).optional().describe('How many may join; 0: any number'),
  reason: reasonField,
});

export function createVoiceChannel(parts: Parts): ToolDefinition<typeof input, CreatedChannel> {
  const tool = 'discord_create_voice_channel';
  return {
    name: tool,
    description: 'Create a voice channel.',
    input,
    risk: 'write',
    access: { member: MANAGING, bot: MANAGING },
    place: ({ guildId, categoryId }) => categoryPlace(parts.client, guildId, categoryId),
    examples: ['create a voice channel called {channelName} in server {guildId}'],
    present: {
      sentence: ({ channelName }) => `I'll create the voice channel ${channelName}`,
      said: ['channelName'],
      action: 'Create voice channel',
      success: (_, created) => createdText('voice channel', created),
      cancelled: ({ channelName }) => `Cancelled creating the voice channel ${channelName}.`,
    },
    run({ guildId, channelName, categoryId, userLimit, reason }, { actor }) {
      const wanted = {
        guildId,
        name: channelName,
        categoryId,
        type: ChannelType.GuildVoice,
        ...(userLimit === undefined ? {} : { userLimit }),
      } as const;
      return createChannel(parts, { actor, tool }, wanted, reason);
    },
  };
}
