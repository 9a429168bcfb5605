import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { forumPost } from '../../reaching/channels.js';
import { reasonField, threadField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { requireThreadRights } from '../../reaching/threads-in.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { type ThreadView, viewThread } from '../../reading/thread.js';

const input = z.object({ threadId: threadField, reason: reasonField });

export function deleteForumPost(parts: Parts): ToolDefinition<typeof input, ThreadView> {
  const tool = 'discord_delete_forum_post';
  return {
    name: tool,
    description: 'Delete a forum post with all its answers. This cannot be undone.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: ['ViewChannel'], bot: ['ViewChannel', 'ManageThreads'] },
    place: ({ threadId }) => channelPlace(parts.client, threadId),
    examples: ['delete the forum post {threadId}'],
    present: {
      sentence: ({ threadId }) =>
        `I'll delete the post ${channelInSentence(parts.client, threadId)} with all its answers`,
      action: 'Delete forum post',
      success: (_, { id, name }) => `✓ Deleted the post ${nameText(name)} (${id}).`,
      cancelled: () => 'Cancelled deleting the post.',
    },
    async run({ threadId, reason }, { actor }) {
      const caller = { actor, tool };
      const { post } = await forumPost(parts.client, threadId);
      await requireThreadRights(parts, caller, post);
      const deleted = viewThread(post);
      await post.delete(auditReason(parts, caller, reason));
      return deleted;
    },
  };
}
