import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { guildField } from '../../reaching/fields.js';
import { guildOf, listingMembers } from '../../reaching/guilds.js';
import { guildPlace } from '../../reaching/places.js';
import { readId } from '../../reaching/references.js';
import { type MemberView, memberText, viewMember } from './view.js';

const input = z.object({
  guildId: guildField,
  limit: z.number().int().min(1).max(1000).default(100).describe('How many, at most 1,000'),
  after: z.string().max(30).optional().describe('Go on after this member: their user id'),
});

interface Members {
  readonly members: readonly MemberView[];
  /** Set when there may be more: what to give as `after`. */
  readonly next?: string;
}

export function listMembers(parts: Parts): ToolDefinition<typeof input, Members> {
  return {
    name: 'discord_list_members',
    description: 'List the members of a server with their roles, in the order of their ids.',
    input,
    risk: 'read',
    place: ({ guildId }) => guildPlace(guildId),
    examples: ['who is in server {guildId}?', 'list the members of server {guildId}'],
    present: {
      sentence: () => "I'll list the members of this server",
      action: 'List members',
      success: (_, { members, next }) =>
        `${members.map(memberText).join('\n')}${next === undefined ? '' : `\nThere may be more: after ${next}.`}`,
    },
    async run({ guildId, limit, after }) {
      const guild = guildOf(parts.client, guildId);
      const range = after === undefined ? {} : { after: readId(after, 'user') };
      const found = [...(await listingMembers(guild.members.list({ limit, cache: false, ...range }))).values()];
      const last = found.at(-1);
      return {
        members: found.map((member) => viewMember(member, parts.clock.now())),
        ...(found.length === limit && last !== undefined ? { next: last.id } : {}),
      };
    },
  };
}
