import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { guildField } from '../../reaching/fields.js';
import { readId } from '../../reaching/references.js';
import { seenGuild } from '../../reaching/visible-channels.js';
import { nameText } from '../../reading/names.js';
import { channelSource } from '../../reading/sources.js';
import { type TagView, viewTags } from './tags.js';

const input = z.object({ guildId: guildField });

interface Forums {
  readonly forums: readonly {
    readonly id: string;
    readonly name: string;
    readonly topic: string | null;
    readonly tags: readonly TagView[];
  }[];
}

export function getForumChannels(parts: Parts): ToolDefinition<typeof input, Forums> {
  const tool = 'discord_get_forum_channels';
  return {
    name: tool,
    description: 'List the forum channels of a server that you can see, with their tags.',
    input,
    risk: 'read',
    sources: ({ forums }) => forums.map(({ id }) => channelSource(parts.client, id)),
    examples: ['which forums are there in server {guildId}?'],
    present: {
      sentence: () => "I'll list the forums of this server",
      action: 'List forums',
      success: (_, { forums }) => (forums.length === 0 ? 'There are no forums.' : forums.map(forumText).join('\n')),
    },
    async run({ guildId }, { actor }) {
      const guild = parts.client.guilds.cache.get(readId(guildId, 'server'));
      const { channels } = await seenGuild(parts, { actor, tool }, guild);
      const forums = channels.flatMap((channel) => (channel.isThreadOnly() ? [channel] : []));
      return {
        forums: forums.map((forum) => ({ id: forum.id, name: forum.name, topic: forum.topic, tags: viewTags(forum) })),
      };
    },
  };
}

function forumText({ id, name, topic, tags }: Forums['forums'][number]): string {
  const about = topic === null ? '' : ` · ${nameText(topic)}`;
  const tagged = tags.length === 0 ? '' : ` · tags ${tags.map((tag) => nameText(tag.name)).join(', ')}`;
  return `${nameText(name)} (forum ${id})${about}${tagged}`;
}
