import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { forumPost } from '../../reaching/channels.js';
import { isGone } from '../../reaching/discord-errors.js';
import { threadField } from '../../reaching/fields.js';
import { READING } from '../../reaching/may.js';
import { channelPlace } from '../../reaching/places.js';
import { type MessageView, viewMessage } from '../../reading/message.js';
import { fitting, messagesText, messageText } from '../../reading/message-text.js';
import { channelInSentence } from '../../reading/names.js';
import { channelSource, messageSources } from '../../reading/sources.js';
import { type ThreadView, threadText, viewThread } from '../../reading/thread.js';

const LATEST = 10;
const input = z.object({ threadId: threadField });

interface Post {
  readonly post: ThreadView;
  /** What it began with; missing when that was deleted. */
  readonly first?: MessageView;
  /** The latest answers, oldest first. */
  readonly latest: readonly MessageView[];
}

export function getForumPost(parts: Parts): ToolDefinition<typeof input, Post> {
  return {
    name: 'discord_get_forum_post',
    description: 'Show a forum post: its title, tags and state, what it began with, and its latest answers.',
    input,
    risk: 'read',
    access: { member: READING, bot: READING },
    place: ({ threadId }) => channelPlace(parts.client, threadId),
    sources: ({ post, first, latest }) => [
      channelSource(parts.client, post.id),
      ...messageSources(parts.client, [...(first === undefined ? [] : [first]), ...latest]),
    ],
    examples: ['show me the forum post {threadId}'],
    present: {
      sentence: ({ threadId }) => `I'll read the post ${channelInSentence(parts.client, threadId)}`,
      action: 'Read forum post',
      success: (_, found) => postText(found),
    },
    async run({ threadId }, { mostCharacters }) {
      const { post } = await forumPost(parts.client, threadId);
      const first = await post.fetchStarterMessage({ force: true }).catch((error: unknown) => {
        if (isGone(error)) return null;
        throw error;
      });
      const found = await post.messages.fetch({ limit: LATEST, cache: false });
      const latest = [...found.values()].reverse().filter(({ id }) => id !== first?.id);
      const begin = first === null ? undefined : viewMessage(first);
      const beginLength = begin === undefined ? 0 : messageText(begin).length;
      return {
        post: viewThread(post),
        ...(begin === undefined ? {} : { first: begin }),
        latest: fitting(latest.map(viewMessage), mostCharacters - beginLength, 'end'),
      };
    },
  };
}

function postText({ post, first, latest }: Post): string {
  const begin = first === undefined ? 'What it began with was deleted.' : messageText(first);
  const answers = latest.length === 0 ? 'No answers yet.' : `The latest answers:\n\n${messagesText(latest)}`;
  return [threadText(post), begin, answers].join('\n\n');
}
