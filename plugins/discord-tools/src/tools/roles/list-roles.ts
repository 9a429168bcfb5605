import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Role } from 'discord.js';
import type { Parts } from '../../parts.js';
import { guildField } from '../../reaching/fields.js';
import { guildOf } from '../../reaching/guilds.js';
import { guildPlace } from '../../reaching/places.js';
import { nameText } from '../../reading/names.js';

const input = z.object({ guildId: guildField });

interface RoleView {
  readonly id: string;
  readonly name: string;
  readonly position: number;
  readonly color: string;
  readonly hoist: boolean;
  readonly mentionable: boolean;
  /** Of a bot or an integration: nobody can be given it. */
  readonly managed: boolean;
  readonly permissions: readonly string[];
}

interface Roles {
  /** The highest first. */
  readonly roles: readonly RoleView[];
}

export function listRoles(parts: Parts): ToolDefinition<typeof input, Roles> {
  return {
    name: 'discord_list_roles',
    description: 'List the roles of a server, the highest first, with their ids and permissions.',
    input,
    risk: 'read',
    place: ({ guildId }) => guildPlace(guildId),
    examples: ['which roles are there in server {guildId}?', 'list the roles of server {guildId}'],
    present: {
      sentence: () => "I'll list the roles of this server",
      action: 'List roles',
      success: (_, { roles }) => roles.map(roleText).join('\n'),
    },
    async run({ guildId }) {
      const { roles } = guildOf(parts.client, guildId);
      return { roles: roles.cache.map(viewRole).sort((one, other) => other.position - one.position) };
    },
  };
}

function viewRole(role: Role): RoleView {
  return {
    id: role.id,
    name: role.name,
    position: role.position,
    color: role.hexColor,
    hoist: role.hoist,
    mentionable: role.mentionable,
    managed: role.managed,
    permissions: role.permissions.toArray(),
  };
}

function roleText({ id, name, position, color, hoist, mentionable, managed, permissions }: RoleView): string {
  const facts = [
    `${nameText(name)} (role ${id})`,
    `position ${position}`,
    color,
    ...(hoist ? ['listed apart'] : []),
    ...(mentionable ? ['mentionable'] : []),
    ...(managed ? ['managed'] : []),
    permissions.length === 0 ? 'no permissions' : permissions.join(' '),
  ];
  return facts.join(' · ');
}
