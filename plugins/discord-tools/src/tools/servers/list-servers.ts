import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { channelsWith } from '../../reaching/visible-channels.js';
import { nameText } from '../../reading/names.js';

const input = z.object({});

interface Servers {
  readonly servers: readonly { readonly id: string; readonly name: string }[];
}

export function listServers(parts: Parts): ToolDefinition<typeof input, Servers> {
  const tool = 'discord_list_servers';
  return {
    name: tool,
    description: 'List the servers within your reach, with their ids.',
    input,
    risk: 'read',
    examples: ['which servers are you in?', 'list the servers'],
    present: {
      sentence: () => "I'll list the servers",
      action: 'List servers',
      success: (_, { servers }) =>
        servers.length === 0
          ? 'There is no server within reach.'
          : servers.map(({ id, name }) => `${nameText(name)} (server ${id})`).join('\n'),
    },
    async run(_, { actor }) {
      const servers: { id: string; name: string }[] = [];
      for (const guild of parts.client.guilds.cache.values()) {
        const seen = await channelsWith(parts, { actor, tool }, guild.channels.cache.values(), ['ViewChannel']);
        if (seen.length > 0) servers.push({ id: guild.id, name: guild.name });
      }
      return { servers };
    },
  };
}
