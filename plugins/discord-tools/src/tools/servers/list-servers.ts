import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { channelsWith, maySee } from '../../reaching/visible-channels.js';
import { nameText } from '../../reading/names.js';
import { stopWhenCancelled } from '../../sending/cancelled.js';

/** A bot may be in thousands, and has to ask Discord about each in which it has not seen the person yet. */
const LONGEST_MS = 10_000;

const input = z.object({});

interface Servers {
  readonly servers: readonly { readonly id: string; readonly name: string }[];
  /** Whether there was no time to look at all. */
  readonly more: boolean;
}

export function listServers(parts: Parts): ToolDefinition<typeof input, Servers> {
  const tool = 'discord_list_servers';
  return {
    name: tool,
    description: 'List the servers within your reach, with their ids.',
    input,
    risk: 'read',
    sources: ({ servers }) => servers.map(({ id }) => ({ guildId: id })),
    examples: ['which servers are you in?', 'list the servers'],
    present: {
      sentence: () => "I'll list the servers",
      action: 'List servers',
      success: (_, { servers, more }) => {
        const lines = servers.map(({ id, name }) => `${nameText(name)} (server ${id})`);
        if (more) lines.push('There may be more: there was no time to look at all.');
        return lines.length === 0 ? 'There is no server within reach.' : lines.join('\n');
      },
    },
    async run(_, { actor, signal }) {
      const servers: { id: string; name: string }[] = [];
      const caller = { actor, tool };
      const until = parts.clock.now() + LONGEST_MS;
      for (const guild of parts.client.guilds.cache.values()) {
        if (parts.clock.now() > until) return { servers, more: true };
        stopWhenCancelled(signal);
        if (!(await maySee(parts, caller, guild))) continue;
        const seen = await channelsWith(parts, caller, guild.channels.cache.values(), ['ViewChannel']);
        if (seen.length > 0) servers.push({ id: guild.id, name: guild.name });
      }
      return { servers, more: false };
    },
  };
}
