import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { forumPost } from '../../reaching/channels.js';
import { threadField } from '../../reaching/fields.js';
import { demand } from '../../reaching/may.js';
import { channelPlace, placeOf } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { requireThreadRights } from '../../reaching/threads-in.js';
import { channelInSentence } from '../../reading/names.js';
import { type ThreadView, threadText, viewThread } from '../../reading/thread.js';
import { MOST_TAGS, tagIds } from './tags.js';

const input = z.object({
  threadId: threadField,
  name: z.string().trim().min(1).max(100).optional().describe('The new title'),
  tags: z.array(z.string().max(100)).max(MOST_TAGS).optional().describe('All tags that it is to have: names or ids'),
  archived: z.boolean().optional().describe('Whether it is archived'),
  locked: z.boolean().optional().describe('Whether only moderators may answer'),
});

export function updateForumPost(parts: Parts): ToolDefinition<typeof input, ThreadView> {
  const tool = 'discord_update_forum_post';
  return {
    name: tool,
    description: 'Change the title or the tags of a forum post; archive, open, lock or unlock it.',
    input,
    risk: 'write',
    idempotent: true,
    access: { member: ['ViewChannel'], bot: ['ViewChannel'] },
    place: ({ threadId }) => channelPlace(parts.client, threadId),
    examples: ['rename the forum post {threadId} to {name}'],
    present: {
      sentence: ({ threadId }) => `I'll change the post ${channelInSentence(parts.client, threadId)}`,
      action: 'Change forum post',
      success: (_, post) => `✓ ${threadText(post)}.`,
      cancelled: () => 'Cancelled: the post stays as it is.',
    },
    async run({ threadId, name, tags, archived, locked }, { actor }) {
      const caller = { actor, tool };
      const { post, forum } = await forumPost(parts.client, threadId);
      await requireThreadRights(parts, caller, post);
      if (locked !== undefined) await demand(parts, caller, placeOf(post), 'ManageThreads');
      const appliedTags = tags === undefined ? undefined : await tagIds(parts, caller, forum, tags);
      const edited = await post.edit({
        ...(name === undefined ? {} : { name }),
        ...(appliedTags === undefined ? {} : { appliedTags }),
        ...(archived === undefined ? {} : { archived }),
        ...(locked === undefined ? {} : { locked }),
        reason: auditReason(parts, caller, undefined),
      });
      return viewThread(edited);
    },
  };
}
