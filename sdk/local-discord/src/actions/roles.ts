import { broadcast } from '../gateway/dispatch.js';
import { rolePayload } from '../payload/role.js';
import { permissionBits } from '../rules/permission-names.js';
import type { LocalGuild, RoleInit } from '../state/guild.js';
import { LocalRole } from '../state/role.js';
import type { World } from '../state/world.js';

export function createRole(world: World, guild: LocalGuild, init: RoleInit): LocalRole {
  const role = new LocalRole(guild, world.nextId(), init.name ?? 'new role', permissionBits(init.permissions ?? 0n));
  role.color = init.color ?? 0;
  role.hoist = init.hoist ?? false;
  role.mentionable = init.mentionable ?? false;
  role.position = init.position ?? guild.roles.size;
  role.botId = init.botId;
  guild.roles.set(role.id, role);
  broadcast(world, 'GUILD_ROLE_CREATE', { guild }, { guild_id: guild.id, role: rolePayload(role) });
  return role;
}

/** GUILD_ROLE_UPDATE, after a role was changed. */
export function announceRole(world: World, role: LocalRole): void {
  const { guild } = role;
  broadcast(world, 'GUILD_ROLE_UPDATE', { guild }, { guild_id: guild.id, role: rolePayload(role) });
}

export function deleteRole(world: World, role: LocalRole): void {
  const { guild } = role;
  guild.roles.delete(role.id);
  for (const member of guild.members.values()) member.roles.delete(role);
  for (const channel of guild.channels.values()) channel.overwrites.delete(role.id);
  broadcast(world, 'GUILD_ROLE_DELETE', { guild }, { guild_id: guild.id, role_id: role.id });
}
