import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { GuildForumTagData } from 'discord.js';
import type { Parts } from '../../parts.js';
import { type Forum, forumChannel } from '../../reaching/channels.js';
import { forumField, reasonField } from '../../reaching/fields.js';
import { channelPlace } from '../../reaching/places.js';
import { auditReason } from '../../reaching/reason.js';
import { channelInSentence } from '../../reading/names.js';
import { parsedEmoji } from '../../sending/emoji.js';
import { type TagView, tagsText, viewTags } from './tags.js';

const tag = z.object({
  name: z.string().trim().min(1).max(20).describe('The name, at most 20 characters'),
  moderated: z.boolean().optional().describe('Only for moderators to put on a post'),
  emoji: z.string().max(100).optional().describe('An emoji: 👍 or <:name:id>'),
});
const input = z.object({
  forumChannelId: forumField,
  tags: z.array(tag).max(20).describe('All tags that the forum is to have; others go'),
  reason: reasonField,
});
const MANAGING = ['ViewChannel', 'ManageChannels'] as const;

interface Tags {
  readonly tags: readonly TagView[];
}

export function setForumTags(parts: Parts): ToolDefinition<typeof input, Tags> {
  const tool = 'discord_set_forum_tags';
  return {
    name: tool,
    description: 'Set the tags of a forum channel. A tag that keeps its name stays on the posts that have it.',
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: MANAGING, bot: MANAGING },
    place: ({ forumChannelId }) => channelPlace(parts.client, forumChannelId),
    present: {
      sentence: ({ forumChannelId }) => `I'll set the tags of ${channelInSentence(parts.client, forumChannelId)}`,
      action: 'Set forum tags',
      success: (_, { tags }) => `✓ The tags are now:\n${tagsText(tags)}`,
      cancelled: () => 'Cancelled: the tags stay as they are.',
    },
    async run({ forumChannelId, tags, reason }, { actor }) {
      const forum = await forumChannel(parts.client, forumChannelId);
      const wanted = tags.map((one) => tagData(forum, one));
      const edited = await forum.setAvailableTags(wanted, auditReason(parts, { actor, tool }, reason));
      return { tags: viewTags(edited) };
    },
  };
}

function tagData(forum: Forum, { name, moderated, emoji }: z.output<typeof tag>): GuildForumTagData {
  const present = forum.availableTags.find((one) => one.name.toLowerCase() === name.toLowerCase());
  const parsed = emoji === undefined ? undefined : parsedEmoji(emoji.trim());
  return {
    ...present,
    name,
    ...(moderated === undefined ? {} : { moderated }),
    ...(parsed === undefined
      ? {}
      : { emoji: parsed.id === undefined ? { id: null, name: parsed.name } : { id: parsed.id, name: null } }),
  };
}
