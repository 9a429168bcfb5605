import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { forumChannel } from '../../reaching/channels.js';
import { forumField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { channelInSentence } from '../../reading/names.js';
import { type TagView, tagsText, viewTags } from './tags.js';

const input = z.object({ forumChannelId: forumField });

interface Tags {
  readonly tags: readonly TagView[];
}

export function getForumTags(parts: Parts): ToolDefinition<typeof input, Tags> {
  return {
    name: 'discord_get_forum_tags',
    description: 'List the tags that posts of a forum channel can have.',
    input,
    risk: 'read',
    access: { member: ['ViewChannel'], bot: ['ViewChannel'] },
    place: ({ forumChannelId }) => channelPlace(parts.client, forumChannelId),
    examples: ['which tags are there in the forum {forumChannelId}?'],
    present: {
      sentence: ({ forumChannelId }) => `I'll list the tags of ${channelInSentence(parts.client, forumChannelId)}`,
      action: 'List forum tags',
      success: (_, { tags }) => tagsText(tags),
    },
    run: async ({ forumChannelId }) => ({ tags: viewTags(await forumChannel(parts.client, forumChannelId)) }),
  };
}
