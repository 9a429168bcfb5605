import { type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { guildField, reasonField, roleField, userField } from '../../reaching/fields.js';
import { guildOf, memberOf, roleOf } from '../../reaching/guilds.js';
import { guildPlace } from '../../reaching/places.js';
import { ranksIn, requireAboveRole } from '../../reaching/rank.js';
import { auditReason } from '../../reaching/reason.js';
import { memberInSentence, nameText, roleInSentence } from '../../reading/names.js';
import { MANAGING_ROLES } from './fields.js';

const input = z.object({ guildId: guildField, userId: userField, roleId: roleField, reason: reasonField });

interface Assigned {
  readonly member: string;
  readonly role: string;
}

export function assignRole(parts: Parts): ToolDefinition<typeof input, Assigned> {
  return assigning(parts, {
    tool: 'discord_assign_role',
    change: 'add',
    description: 'Give a role to a member.',
    intention: (member, role) => `I'll give ${member} the role ${role}`,
    action: 'Give role',
    done: ({ member, role }) => `✓ ${nameText(member)} now has the role ${nameText(role)}.`,
    examples: ['give {userId} the role {roleId} in server {guildId}'],
  });
}

export function removeRole(parts: Parts): ToolDefinition<typeof input, Assigned> {
  return assigning(parts, {
    tool: 'discord_remove_role',
    change: 'remove',
    description: 'Take a role from a member.',
    intention: (member, role) => `I'll take the role ${role} from ${member}`,
    action: 'Take role',
    done: ({ member, role }) => `✓ ${nameText(member)} no longer has the role ${nameText(role)}.`,
    examples: ['take the role {roleId} from {userId} in server {guildId}'],
  });
}

interface Variant {
  readonly tool: string;
  readonly change: 'add' | 'remove';
  readonly description: string;
  intention(member: string, role: string): string;
  readonly action: string;
  done(assigned: Assigned): string;
  readonly examples: readonly string[];
}

function assigning(
  parts: Parts,
  { tool, change, description, intention, action, done, examples }: Variant,
): ToolDefinition<typeof input, Assigned> {
  return {
    name: tool,
    description,
    input,
    risk: 'destructive',
    idempotent: true,
    access: { member: MANAGING_ROLES, bot: MANAGING_ROLES },
    place: ({ guildId }) => guildPlace(guildId),
    examples,
    present: {
      sentence: ({ guildId, userId, roleId }) =>
        intention(memberInSentence(parts.client, guildId, userId), roleInSentence(parts.client, guildId, roleId)),
      action,
      success: (_, assigned) => done(assigned),
      cancelled: () => 'Cancelled: the roles stay as they are.',
    },
    async run({ guildId, userId, roleId, reason }, { actor }) {
      const guild = guildOf(parts.client, guildId);
      const role = roleOf(guild, roleId);
      if (role.managed || role.id === guild.id)
        throw new UserError('That role belongs to a bot, or to everyone: nobody can be given or lose it.');
      requireAboveRole(await ranksIn(guild, actor), role);
      const member = await memberOf(guild, userId);
      await member.roles[change](role, auditReason(parts, { actor, tool }, reason));
      return { member: member.displayName, role: role.name };
    },
  };
}
