import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { categoryChannel } from '../../reaching/channels.js';
import { categoryField, reasonField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { type CreatedChannel, channelNameField, MANAGING } from './creating.js';

const input = z.object({
  categoryId: categoryField,
  name: channelNameField.optional(),
  position: z.number().int().min(0).max(500).optional().describe('Where in the list, from 0'),
  reason: reasonField,
});

export function editCategory(parts: Parts): ToolDefinition<typeof input, CreatedChannel> {
  const tool = 'discord_edit_category';
  return {
    name: tool,
    description: 'Change the name or position of a category.',
    input,
    risk: 'write',
    idempotent: true,
    access: { member: MANAGING, bot: MANAGING },
    place: ({ categoryId }) => channelPlace(parts.client, categoryId),
    examples: ['rename the category {categoryId} to {name}'],
    present: {
      sentence: ({ categoryId }) => `I'll change the category ${channelInSentence(parts.client, categoryId)}`,
      action: 'Change category',
      success: (_, { id, name }) => `✓ Changed the category ${nameText(name)} (${id}).`,
      cancelled: () => 'Cancelled changing the category.',
    },
    async run({ categoryId, name, position, reason }, { actor }) {
      const category = await categoryChannel(parts.client, categoryId);
      const edited = await category.edit({
        ...(name === undefined ? {} : { name }),
        ...(position === undefined ? {} : { position }),
        reason: auditReason(parts, { actor, tool }, reason),
      });
      return { id: edited.id, name: edited.name };
    },
  };
}
