import { type Actor, type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { type CategoryChannel, type GuildChannel, PermissionsBitField, type Role } from 'discord.js';
import { channelField, permissionsField, readPermissions, reasonField, roleField } from '../arguments.js';
import type { Context } from '../context.js';
import { auditReason, discordTool } from '../discord-tool.js';
import { channelInSentence, channelRoleInSentence, nameText } from '../names.js';
import { channelOf, channelPlace, roleOf } from '../places.js';
import { ranksIn, requireAboveRole, requireHeld } from '../rights.js';

const MANAGING_PERMISSIONS = ['ViewChannel', 'ManageRoles'] as const;

/** The permissions of roles in one channel or category. */
export function channelPermissionTools(context: Context): readonly ToolDefinition[] {
  const { client } = context;
  return [
    discordTool({
      name: 'discord_set_channel_permissions',
      description:
        'Allow or deny permissions to a role in one channel or category. Permissions that are not named stay as they are.',
      input: z.object({
        channelId: channelField,
        roleId: roleField.describe("The role: its id; for everyone the server's id"),
        allow: permissionsField.default([]).describe('Permissions to allow there, such as SendMessages'),
        deny: permissionsField.default([]).describe('Permissions to deny there'),
        reason: reasonField,
      }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING_PERMISSIONS,
      place: ({ channelId }) => channelPlace(client, channelId),
      async run({ channelId, roleId, allow, deny, reason }, call) {
        const [allowed, denied] = [readPermissions(allow), readPermissions(deny)];
        if (allow.length + deny.length === 0) throw new UserError('Say which permissions to allow or to deny.');
        if ((allowed.bitfield & denied.bitfield) !== 0n)
          throw new UserError('A permission cannot be both allowed and denied.');
        const { channel, role, held } = await managedRole(context, call.actor, channelId, roleId);
        requireHeld(held, new PermissionsBitField(allowed.bitfield | denied.bitfield));
        const changes = Object.fromEntries([
          ...allowed.toArray().map((name) => [name, true]),
          ...denied.toArray().map((name) => [name, false]),
        ]);
        await channel.permissionOverwrites.edit(role, changes, { reason: auditReason(context, call, reason) });
        return { channelId: channel.id, role: role.name };
      },
      present: {
        sentence: ({ channelId, roleId }) =>
          `I'll change what ${channelRoleInSentence(client, channelId, roleId)} may do in ${channelInSentence(client, channelId)}`,
        action: 'Change channel permissions',
        success: (_, { channelId, role }) => `✓ Changed what ${nameText(role)} may do in <#${channelId}>.`,
        cancelled: () => 'Cancelled changing permissions.',
      },
    }),
    discordTool({
      name: 'discord_remove_channel_permissions',
      description: 'Take back everything that a channel or category allows or denies to a role.',
      input: z.object({ channelId: channelField, roleId: roleField, reason: reasonField }),
      risk: 'destructive',
      idempotent: true,
      permissions: MANAGING_PERMISSIONS,
      place: ({ channelId }) => channelPlace(client, channelId),
      async run({ channelId, roleId, reason }, call) {
        const { channel, role, held } = await managedRole(context, call.actor, channelId, roleId);
        const own = channel.permissionOverwrites.cache.get(role.id);
        if (own === undefined) throw new UserError('That role has no permissions of its own in this channel.');
        requireHeld(held, new PermissionsBitField(own.allow.bitfield | own.deny.bitfield));
        await own.delete(auditReason(context, call, reason));
        return { channelId: channel.id, role: role.name };
      },
      present: {
        sentence: ({ channelId, roleId }) =>
          `I'll take back the permissions of ${channelRoleInSentence(client, channelId, roleId)} in ${channelInSentence(client, channelId)}`,
        action: 'Remove channel permissions',
        success: (_, { channelId, role }) =>
          `✓ ${nameText(role)} has no permissions of its own in <#${channelId}> any more.`,
        cancelled: () => 'Cancelled changing permissions.',
      },
    }),
  ];
}

interface ManagedRole {
  readonly channel: GuildChannel | CategoryChannel;
  readonly role: Role;
  /** What the requester may do there. */
  readonly held: Readonly<PermissionsBitField>;
}

/** A channel and a role below the requester. @throws UserError */
async function managedRole({ client }: Context, actor: Actor, channelId: string, roleId: string): Promise<ManagedRole> {
  const channel = await channelOf(client, channelId);
  if (channel.isDMBased() || channel.isThread())
    throw new UserError('Only channels and categories of a server have permissions.');
  const role = roleOf(channel.guild, roleId);
  const ranks = await ranksIn(channel.guild, actor);
  // Every member has the role @everyone, so it has no rank to be above.
  if (role.id !== channel.guild.id) requireAboveRole(ranks, role);
  return { channel, role, held: channel.permissionsFor(ranks.asking) };
}
