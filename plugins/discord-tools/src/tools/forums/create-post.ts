import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { forumChannel } from '../../reaching/channels.js';
import { forumField, textField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence, nameText } from '../../reading/names.js';
import { mannerOf } from '../../sending/manner.js';
import { postParts } from '../../sending/post.js';
import { messagesFor } from '../../sending/spoken-for.js';
import { MOST_TAGS, tagIds } from './tags.js';

const input = z.object({
  forumChannelId: forumField,
  title: z.string().trim().min(1).max(100).describe('The title'),
  content: textField,
  tags: z.array(z.string().max(100)).max(MOST_TAGS).default([]).describe('Names or ids of tags of the forum'),
});
const POSTING = ['ViewChannel', 'SendMessages'] as const;

interface CreatedPost {
  readonly threadId: string;
  readonly title: string;
  readonly messageIds: readonly string[];
}

export function createForumPost(parts: Parts): ToolDefinition<typeof input, CreatedPost> {
  const tool = 'discord_create_forum_post';
  return {
    name: tool,
    description: 'Create a post in a forum channel. Returns the id of its thread.',
    input,
    risk: 'write',
    access: { member: POSTING, bot: POSTING },
    place: ({ forumChannelId }) => channelPlace(parts.client, forumChannelId),
    examples: ['create a post called {title} in the forum {forumChannelId} saying {content}'],
    present: {
      sentence: ({ title, forumChannelId }) =>
        `I'll create the post ${title} in ${channelInSentence(parts.client, forumChannelId)}`,
      said: ['title'],
      action: 'Create forum post',
      labels: { forumChannelId: 'Forum', content: 'Text' },
      success: (_, { threadId, title, messageIds }) =>
        `✓ Created the post ${nameText(title)} (thread ${threadId}, message ${messageIds.join(', ')}).`,
      cancelled: ({ title }) => `Cancelled the post ${title}.`,
    },
    async run({ forumChannelId, title, content, tags }, context) {
      const caller = { actor: context.actor, tool };
      const forum = await forumChannel(parts.client, forumChannelId);
      const appliedTags = await tagIds(parts, caller, forum, tags);
      const manner = await mannerOf(parts, caller, forum, content);
      const [first, ...rest] = await messagesFor(parts, caller, forum.guildId, content);
      if (first === undefined) throw new UserError('There is nothing to post.');
      const thread = await forum.threads.create({
        name: title,
        message: { content: first, ...manner },
        appliedTags,
        reason: auditReason(parts, caller, undefined),
      });
      // A post and its first message have the same id.
      await parts.sent.remember(thread.id, [thread.id], context.actor);
      const further = await postParts(parts, caller, context, thread, { contents: rest, manner });
      return { threadId: thread.id, title: thread.name, messageIds: [thread.id, ...further] };
    },
  };
}
