import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { categoryChannel } from '../../reaching/channels.js';
import { categoryField, reasonField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { type CreatedChannel, MANAGING } from './creating.js';

const input = z.object({ categoryId: categoryField, reason: reasonField });

export function deleteCategory(parts: Parts): ToolDefinition<typeof input, CreatedChannel> {
  const tool = 'discord_delete_category';
  return {
    name: tool,
    description: 'Delete a category. Its channels stay, and stand alone.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: MANAGING, bot: MANAGING },
    place: ({ categoryId }) => channelPlace(parts.client, categoryId),
    examples: ['delete the category {categoryId}'],
    present: {
      sentence: ({ categoryId }) => `I'll delete the category ${channelInSentence(parts.client, categoryId)}`,
      action: 'Delete category',
      success: (_, { id, name }) => `✓ Deleted the category ${nameText(name)} (${id}).`,
      cancelled: () => 'Cancelled deleting the category.',
    },
    async run({ categoryId, reason }, { actor }) {
      const category = await categoryChannel(parts.client, categoryId);
      await category.delete(auditReason(parts, { actor, tool }, reason));
      return { id: category.id, name: category.name };
    },
  };
}
