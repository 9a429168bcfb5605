import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { forumChannel } from '../../reaching/channels.js';
import { forumField } from '../../reaching/fields.js';
import { READING } from '../../reaching/may.js';
import { channelPlace } from '../../reaching/places.js';
import { threadsIn } from '../../reaching/threads-in.js';
import { channelInSentence } from '../../reading/names.js';
import { channelSource } from '../../reading/sources.js';
import { type ThreadView, threadText, viewThread } from '../../reading/thread.js';

const input = z.object({
  forumChannelId: forumField,
  includeArchived: z.boolean().default(false).describe('Archived ones, too'),
  limit: z.number().int().min(1).max(100).default(50).describe('How many, at most 100'),
});

interface Posts {
  /** The newest first. */
  readonly posts: readonly ThreadView[];
}

export function listForumThreads(parts: Parts): ToolDefinition<typeof input, Posts> {
  const tool = 'discord_list_forum_threads';
  return {
    name: tool,
    description: 'List the posts of a forum channel, the newest first.',
    input,
    risk: 'read',
    access: { member: READING, bot: READING },
    place: ({ forumChannelId }) => channelPlace(parts.client, forumChannelId),
    sources: ({ posts }) => posts.map(({ id }) => channelSource(parts.client, id)),
    examples: ['list the posts in the forum {forumChannelId}'],
    present: {
      sentence: ({ forumChannelId }) => `I'll list the posts in ${channelInSentence(parts.client, forumChannelId)}`,
      action: 'List forum posts',
      success: (_, { posts }) => (posts.length === 0 ? 'There are no posts.' : posts.map(threadText).join('\n')),
    },
    async run({ forumChannelId, includeArchived, limit }, { actor }) {
      const forum = await forumChannel(parts.client, forumChannelId);
      const posts = await threadsIn(parts, { actor, tool }, forum, { archived: includeArchived, limit });
      return { posts: posts.map(viewThread) };
    },
  };
}
