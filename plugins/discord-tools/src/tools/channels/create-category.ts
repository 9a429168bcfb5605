import { type ToolDefinition, z } from '@cinnabar/sdk';
import { ChannelType } from 'discord.js';
import type { Parts } from '../../parts.js';
import { guildField, reasonField } from '../../reaching/fields.js';
import { guildPlace } from '../../reaching/places.js';
import { type CreatedChannel, channelNameField, createChannel, createdText, MANAGING } from './creating.js';

const input = z.object({
  guildId: guildField,
  name: channelNameField,
  position: z.number().int().min(0).max(500).optional().describe('Where in the list, from 0'),
  reason: reasonField,
});

export function createCategory(parts: Parts): ToolDefinition<typeof input, CreatedChannel> {
  const tool = 'discord_create_category';
  return {
    name: tool,
    description: 'Create a category.',
    input,
    risk: 'write',
    access: { member: MANAGING, bot: MANAGING },
    place: ({ guildId }) => guildPlace(guildId),
    examples: ['create a category called {name} in server {guildId}'],
    present: {
      sentence: ({ name }) => `I'll create the category ${name}`,
      said: ['name'],
      action: 'Create category',
      success: (_, created) => createdText('category', created),
      cancelled: ({ name }) => `Cancelled creating the category ${name}.`,
    },
    run({ guildId, name, position, reason }, { actor }) {
      const wanted = {
        guildId,
        name,
        type: ChannelType.GuildCategory,
        ...(position === undefined ? {} : { position }),
      } as const;
      return createChannel(parts, { actor, tool }, wanted, reason);
    },
  };
}
