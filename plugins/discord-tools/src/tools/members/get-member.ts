import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { guildField, userField } from '../../reaching/fields.js';
import { guildOf, memberOf } from '../../reaching/guilds.js';
import { guildPlace } from '../../reaching/places.js';
import { type MemberView, memberText, viewMember } from './view.js';

const input = z.object({ guildId: guildField, userId: userField });

export function getMember(parts: Parts): ToolDefinition<typeof input, MemberView> {
  return {
    name: 'discord_get_member',
    description: 'Show a member of a server: names, roles, when they joined, whether they are in time-out.',
    input,
    risk: 'read',
    place: ({ guildId }) => guildPlace(guildId),
    sources: ({ id }, { guildId }) => [{ ...guildPlace(guildId), userIds: [id] }],
    examples: ['who is {userId} in server {guildId}?', 'which roles does {userId} have in server {guildId}?'],
    present: {
      sentence: () => "I'll look up a member",
      action: 'Show member',
      success: (_, member) => memberText(member),
    },
    async run({ guildId, userId }) {
      return viewMember(await memberOf(guildOf(parts.client, guildId), userId), parts.clock.now());
    },
  };
}
