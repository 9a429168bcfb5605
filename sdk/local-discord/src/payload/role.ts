import type { APIRole } from 'discord-api-types/v10';
import { RoleFlags } from 'discord-api-types/v10';
import type { LocalRole } from '../state/role.js';

const NO_FLAGS: RoleFlags = RoleFlags.InPrompt & 0;

export function rolePayload(role: LocalRole): APIRole {
  return {
    id: role.id,
    name: role.name,
    color: role.color,
    colors: { primary_color: role.color, secondary_color: null, tertiary_color: null },
    hoist: role.hoist,
    icon: null,
    unicode_emoji: null,
    position: role.position,
    permissions: role.permissions.toString(),
    managed: role.botId !== undefined,
    mentionable: role.mentionable,
    ...(role.botId === undefined ? {} : { tags: { bot_id: role.botId } }),
    flags: NO_FLAGS,
  };
}
