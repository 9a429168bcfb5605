import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { forumPost } from '../../reaching/channels.js';
import { textField, threadField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { channelInSentence } from '../../reading/names.js';
import { idsText, type Posted, post } from '../../sending/post.js';

const input = z.object({ threadId: threadField, message: textField });
const POSTING = ['ViewChannel', 'SendMessages'] as const;

export function replyToForum(parts: Parts): ToolDefinition<typeof input, Posted> {
  const tool = 'discord_reply_to_forum';
  return {
    name: tool,
    description: 'Answer in a forum post. Returns the id of each message sent.',
    input,
    risk: 'write',
    access: { member: POSTING, bot: POSTING },
    place: ({ threadId }) => channelPlace(parts.client, threadId),
    examples: ['answer {message} in the forum post {threadId}'],
    present: {
      sentence: ({ threadId }) => `I'll answer in the post ${channelInSentence(parts.client, threadId)}`,
      action: 'Answer forum post',
      success: (_, posted) => `✓ Answered in <#${posted.channelId}>: ${idsText(posted)}.`,
      cancelled: () => 'Cancelled the answer.',
    },
    async run({ threadId, message }, context) {
      const { post: thread } = await forumPost(parts.client, threadId);
      return post(parts, { actor: context.actor, tool }, context, thread, { text: message });
    },
  };
}
