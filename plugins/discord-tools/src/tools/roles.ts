import {
  auditReason,
  defined,
  nameText,
  type Ranks,
  ranksIn,
  requireAboveRole,
  requireTierOfRole,
  type ToolDefinition,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { PermissionsBitField, type Role } from 'discord.js';
import { guildField, permissionsField, readPermissions, reasonField, roleField, userField } from '../arguments.js';
import { discordTool, namedOf, presentChange, presentCreate, presentDelete } from '../discord-tool.js';
import { guildOf, guildPlace, memberInSentence, memberOf, roleInSentence, roleOf } from '../places.js';
import { requireBelow, requireHeld } from '../rights.js';
import type { Context } from '../settings.js';

const MANAGING_ROLES = ['ManageRoles'] as const;
const colorField = z
  .union([z.string().max(10), z.number().int().min(0).max(0xffffff)])
  .optional()
  .describe('The colour: #ff8800, or as a number; 0: none');
const hoistField = z.boolean().optional().describe('Whether its members are listed apart');
const mentionableField = z.boolean().optional().describe('Whether everybody may mention it');
const rolePermissionsField = permissionsField
  .optional()
  .describe('All permissions of the role, such as ManageMessages; never one that you lack');

export function roleTools(context: Context): readonly ToolDefinition[] {
  const { client } = context;
  return [
    discordTool({
      name: 'discord_list_roles',
      description: 'List the roles of a server, the highest first, with their ids and permissions.',
      input: z.object({ guildId: guildField }),
      risk: 'read',
      place: ({ guildId }) => guildPlace(guildId),
      examples: ['which roles are there in server {guildId}?', 'list the roles of server {guildId}'],
      async run({ guildId }) {
        const { roles } = guildOf(client, guildId);
        return { roles: roles.cache.map(viewRole).sort((one, other) => other.position - one.position) };
      },
      present: {
        sentence: () => t("I'll list the roles of this server"),
        action: 'List roles',
        success: (_, { roles }) => roles.map(roleText).join('\n'),
      },
    }),
    discordTool({
      name: 'discord_create_role',
      description: 'Create a role, at the bottom of the list. It has no permissions unless some are given.',
      input: z.object({
        guildId: guildField,
        name: z.string().trim().min(1).max(100).describe('Name'),
        color: colorField,
        hoist: hoistField,
        mentionable: mentionableField,
        permissions: rolePermissionsField,
        reason: reasonField,
      }),
      risk: 'write',
      permissions: MANAGING_ROLES,
      place: ({ guildId }) => guildPlace(guildId),
      examples: ['create a role called {name} in server {guildId}'],
      async run({ guildId, name, color, hoist, mentionable, permissions = [], reason }, call) {
        const guild = guildOf(client, guildId);
        const wanted = readPermissions(permissions);
        requireHeld((await ranksIn(guild, call.actor)).asking.permissions, wanted);
        const role = await guild.roles.create({
          name,
          permissions: wanted,
          ...defined({ hoist, mentionable }),
          ...(color === undefined ? {} : { colors: { primaryColor: readColor(color) } }),
          reason: auditReason(context.client, call.actor, reason),
        });
        return namedOf(role);
      },
      present: presentCreate('role', 'Create role', 'name'),
    }),
    discordTool({
      name: 'discord_edit_role',
      description: 'Change a role: name, colour, permissions, position and more. What is not named stays as it is.',
      input: z.object({
        guildId: guildField,
        roleId: roleField,
        name: z.string().trim().min(1).max(100).optional().describe('New name'),
        color: colorField,
        hoist: hoistField,
        mentionable: mentionableField,
        permissions: rolePermissionsField,
        position: z
          .number()
          .int()
          .min(1)
          .max(250)
          .optional()
          .describe('Where in the order of roles; higher is mightier'),
        reason: reasonField,
      }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING_ROLES,
      place: ({ guildId }) => guildPlace(guildId),
      examples: ['rename the role {roleId} in server {guildId} to {name}'],
      async run({ guildId, roleId, name, color, hoist, mentionable, permissions, position, reason }, call) {
        const guild = guildOf(client, guildId);
        const role = roleOf(guild, roleId);
        const ranks = await ranksIn(guild, call.actor);
        requireAboveRole(ranks, role);
        if (position !== undefined) requireBelow(ranks, position);
        const wanted = permissions === undefined ? undefined : changedPermissions(ranks, role, permissions);
        const edited = await role.edit({
          ...defined({ name, permissions: wanted, hoist, mentionable, position }),
          ...(color === undefined ? {} : { colors: { primaryColor: readColor(color) } }),
          reason: auditReason(context.client, call.actor, reason),
        });
        return namedOf(edited);
      },
      present: presentChange('role', 'Change role', ({ guildId, roleId }: { guildId: string; roleId: string }) =>
        roleInSentence(client, guildId, roleId),
      ),
    }),
    discordTool({
      name: 'discord_delete_role',
      description: 'Delete a role. Its members lose it.',
      input: z.object({ guildId: guildField, roleId: roleField, reason: reasonField }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING_ROLES,
      place: ({ guildId }) => guildPlace(guildId),
      examples: ['delete the role {roleId} in server {guildId}'],
      async run({ guildId, roleId, reason }, call) {
        const guild = guildOf(client, guildId);
        const role = roleOf(guild, roleId);
        requireAboveRole(await ranksIn(guild, call.actor), role);
        await role.delete(auditReason(context.client, call.actor, reason));
        return namedOf(role);
      },
      present: presentDelete('role', 'Delete role', ({ guildId, roleId }: { guildId: string; roleId: string }) =>
        roleInSentence(client, guildId, roleId),
      ),
    }),
    memberRoleTool(context, 'add', {
      name: 'discord_assign_role',
      description: 'Give a role to a member.',
      examples: ['give {userId} the role {roleId} in server {guildId}'],
      action: 'Give role',
      sentence: (member, role) => t("I'll give {member} the role {role}", { member, role }),
      success: (member, role) => t('✓ {member} now has the role {role}.', { member, role }),
    }),
    memberRoleTool(context, 'remove', {
      name: 'discord_remove_role',
      description: 'Take a role from a member.',
      examples: ['take the role {roleId} from {userId} in server {guildId}'],
      action: 'Take role',
      sentence: (member, role) => t("I'll take the role {role} from {member}", { role, member }),
      success: (member, role) => t('✓ {member} no longer has the role {role}.', { member, role }),
    }),
  ];
}

interface MemberRoleTexts {
  readonly name: string;
  readonly description: string;
  readonly examples: readonly string[];
  readonly action: string;
  sentence(member: string, role: string): string;
  success(member: string, role: string): string;
}

/** A tool that adds a role to a member, or removes it. */
function memberRoleTool(
  context: Context,
  change: 'add' | 'remove',
  { name, description, examples, action, sentence, success }: MemberRoleTexts,
): ToolDefinition {
  const { client } = context;
  return discordTool({
    name,
    description,
    input: z.object({ guildId: guildField, userId: userField, roleId: roleField, reason: reasonField }),
    risk: 'destructive',
    idempotent: true,
    permissions: MANAGING_ROLES,
    place: ({ guildId }) => guildPlace(guildId),
    examples,
    async run({ guildId, userId, roleId, reason }, call) {
      const guild = guildOf(client, guildId);
      const role = roleOf(guild, roleId);
      if (role.managed || role.id === guild.id)
        throw new UserError(t('That role belongs to a bot, or to everyone: nobody can be given or lose it.'));
      requireAboveRole(await ranksIn(guild, call.actor), role);
      await requireTierOfRole(context, call.actor, role);
      const member = await memberOf(guild, userId);
      await member.roles[change](role, auditReason(context.client, call.actor, reason));
      return { member: member.displayName, role: role.name };
    },
    present: {
      sentence: ({ guildId, userId, roleId }) =>
        sentence(memberInSentence(client, guildId, userId), roleInSentence(client, guildId, roleId)),
      action,
      success: (_, { member, role }) => success(nameText(member), nameText(role)),
      cancelled: () => t('Cancelled: the roles stay as they are.'),
    },
  });
}

/** The permissions that a role gains or loses. @throws UserError unless the requester has all of them */
function changedPermissions({ asking }: Ranks, role: Role, names: readonly string[]): Readonly<PermissionsBitField> {
  const wanted = readPermissions(names);
  requireHeld(asking.permissions, new PermissionsBitField(role.permissions.bitfield ^ wanted.bitfield));
  return wanted;
}

/** `#ff8800` or `ff8800` as a number. @throws UserError */
function readColor(color: string | number): number {
  if (typeof color === 'number') return color;
  const hex = /^#?([0-9a-f]{6})$/i.exec(color.trim())?.[1];
  if (hex === undefined) throw new UserError(t('A colour is given as #ff8800, or as a number.'));
  return Number.parseInt(hex, 16);
}

interface RoleView {
  readonly id: string;
  readonly name: string;
  readonly position: number;
  readonly color: string;
  readonly hoist: boolean;
  readonly mentionable: boolean;
  /** Whether the role belongs to a bot or an integration, so that members cannot get it. */
  readonly managed: boolean;
  readonly permissions: readonly string[];
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
    t('{name} (role {id})', { name: nameText(name), id }),
    t('position {position}', { position }),
    color,
    ...(hoist ? [t('listed apart')] : []),
    ...(mentionable ? [t('mentionable')] : []),
    ...(managed ? [t('managed')] : []),
    permissions.length === 0 ? t('no permissions') : permissions.join(' '),
  ];
  return facts.join(' · ');
}
