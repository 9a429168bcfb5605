import { PermissionFlagsBits } from 'discord-api-types/v10';
import { z } from 'zod';
import { discordError } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { rolePayload } from '../payload/users.js';
import { type RestContext, route } from '../rest/request.js';
import { permissionBits } from '../rules/permission-names.js';
import { guildPermissions, requireAboveRole, requireInGuild } from '../rules/permissions.js';
import { type LocalGuild, type LocalMember, LocalRole, type RoleInit } from '../state/guilds.js';
import type { World } from '../world.js';
import { findRole, guildOf } from './find.js';

export function createRole(world: World, guild: LocalGuild, init: RoleInit): LocalRole {
  const role = new LocalRole(guild, world.nextId(), init.name ?? 'new role', permissionBits(init.permissions ?? 0n));
  role.color = init.color ?? 0;
  role.hoist = init.hoist ?? false;
  role.mentionable = init.mentionable ?? false;
  role.position = init.position ?? guild.roles.size;
  role.botId = init.botId;
  guild.roles.set(role.id, role);
  broadcast(world, 'GUILD_ROLE_CREATE', { guild }, { guild_id: guild.id, role: rolePayload(role) });
  world.notify({ type: 'roleCreate', role });
  return role;
}

/** Sends GUILD_ROLE_UPDATE. */
export function announceRole(world: World, role: LocalRole): void {
  const { guild } = role;
  broadcast(world, 'GUILD_ROLE_UPDATE', { guild }, { guild_id: guild.id, role: rolePayload(role) });
  world.notify({ type: 'roleEdit', role });
}

export function deleteRole(world: World, role: LocalRole): void {
  const { guild } = role;
  guild.roles.delete(role.id);
  for (const member of guild.members.values()) member.roles.delete(role);
  for (const channel of guild.channels.values()) channel.overwrites.delete(role.id);
  broadcast(world, 'GUILD_ROLE_DELETE', { guild }, { guild_id: guild.id, role_id: role.id });
  world.notify({ type: 'roleDelete', role });
}

const roleForm = z.object({
  name: z.string().max(100).nullish(),
  permissions: z
    .union([z.string(), z.number()])
    .transform((bits) => BigInt(bits))
    .nullish(),
  color: z.number().int().min(0).max(0xffffff).nullish(),
  colors: z.object({ primary_color: z.number().int() }).nullish(),
  hoist: z.boolean().nullish(),
  mentionable: z.boolean().nullish(),
});
const positionsForm = z.array(z.object({ id: z.string(), position: z.number().int().nullish() }));

function manager(context: RestContext, guild: LocalGuild): LocalMember {
  return requireInGuild(guild, context.user, context.world.clock.now(), 'ManageRoles');
}

/** A role can only be given permissions that its editor has. @throws 50013 */
function checkGrantable(context: RestContext, member: LocalMember, permissions: bigint): void {
  const own = guildPermissions(member, context.world.clock.now());
  if (!(own & PermissionFlagsBits.Administrator) && permissions & ~own) throw discordError('missingPermissions');
}

export const roleRoutes = [
  route('GET', '/guilds/:guildId/roles', (context) => [...guildOf(context).roles.values()].map(rolePayload)),
  route('GET', '/guilds/:guildId/roles/:roleId', (context) =>
    rolePayload(findRole(guildOf(context), context.param('roleId'))),
  ),
  route('POST', '/guilds/:guildId/roles', (context) => {
    const guild = guildOf(context);
    const member = manager(context, guild);
    const form = context.form(roleForm);
    const permissions = form.permissions ?? guild.everyone.permissions;
    checkGrantable(context, member, permissions);
    const role = createRole(context.world, guild, {
      name: form.name ?? undefined,
      permissions,
      color: form.colors?.primary_color ?? form.color ?? undefined,
      hoist: form.hoist ?? undefined,
      mentionable: form.mentionable ?? undefined,
      position: 1,
    });
    return rolePayload(role);
  }),
  route('PATCH', '/guilds/:guildId/roles', (context) => {
    const guild = guildOf(context);
    const member = manager(context, guild);
    for (const { id, position } of context.form(positionsForm)) {
      const role = findRole(guild, id);
      requireAboveRole(member, role);
      if (typeof position === 'number') role.position = position;
      announceRole(context.world, role);
    }
    return [...guild.roles.values()].map(rolePayload);
  }),
  route('PATCH', '/guilds/:guildId/roles/:roleId', (context) => {
    const guild = guildOf(context);
    const member = manager(context, guild);
    const role = findRole(guild, context.param('roleId'));
    requireAboveRole(member, role);
    const form = context.form(roleForm);
    if (form.permissions !== undefined && form.permissions !== null) {
      checkGrantable(context, member, form.permissions);
      role.permissions = form.permissions;
    }
    role.name = form.name ?? role.name;
    role.color = form.colors?.primary_color ?? form.color ?? role.color;
    role.hoist = form.hoist ?? role.hoist;
    role.mentionable = form.mentionable ?? role.mentionable;
    announceRole(context.world, role);
    return rolePayload(role);
  }),
  route('DELETE', '/guilds/:guildId/roles/:roleId', (context) => {
    const guild = guildOf(context);
    const member = manager(context, guild);
    const role = findRole(guild, context.param('roleId'));
    if (role === guild.everyone || role.botId !== undefined) throw discordError('invalidRole');
    requireAboveRole(member, role);
    deleteRole(context.world, role);
    return undefined;
  }),
];
