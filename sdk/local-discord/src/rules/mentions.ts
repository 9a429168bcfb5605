import { PermissionFlagsBits } from 'discord-api-types/v10';
import { invalidForm } from '../errors.js';
import type { LocalChannel } from '../state/channel.js';
import type { Mentions } from '../state/message.js';
import type { LocalRole } from '../state/role.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

/** `allowed_mentions` as it comes with a message. See https://discord.com/developers/docs/resources/message#allowed-mentions-object */
export interface AllowedMentions {
  parse?: readonly string[] | undefined;
  users?: readonly string[] | undefined;
  roles?: readonly string[] | undefined;
  replied_user?: boolean | undefined;
}

const CODE = /```[\s\S]*?```|`[^`\n]*`/g;
const USER = /<@!?(\d{1,20})>/g;
const ROLE = /<@&(\d{1,20})>/g;
const EVERYONE = /@(?:everyone|here)\b/;

/** Whom the content pings. Mentions in code are text; the sender's permissions (as bits) decide about @everyone and roles. */
export function findMentions(
  world: World,
  channel: LocalChannel,
  content: string,
  permissions: bigint,
  allowed: AllowedMentions | undefined,
): Mentions {
  if (!content.includes('@')) return { everyone: false, users: [], roles: [] };
  const text = content.includes('`') ? content.replace(CODE, '') : content;
  const mayPingAll = Boolean(permissions & PermissionFlagsBits.MentionEveryone);
  const all = (kind: string) => !allowed || (allowed.parse?.includes(kind) ?? false);
  return {
    everyone: EVERYONE.test(text) && mayPingAll && channel.guild !== undefined && all('everyone'),
    users: mentionedUsers(world, text).filter((user) => all('users') || allowed?.users?.includes(user.id)),
    roles: mentionedRoles(channel, text).filter(
      (role) => (role.mentionable || mayPingAll) && (all('roles') || allowed?.roles?.includes(role.id)),
    ),
  };
}

/** Throws 50035 when a list and its `parse` keyword exclude each other, as Discord does. */
export function validateAllowedMentions(allowed: AllowedMentions | undefined): void {
  for (const kind of ['users', 'roles'] as const) {
    const list = allowed?.[kind] ?? [];
    if (list.length > 0 && allowed?.parse?.includes(kind)) {
      throw invalidForm({
        path: ['allowed_mentions'],
        code: 'MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE',
        message: `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`,
      });
    }
    if (list.length > 100) {
      throw invalidForm({
        path: ['allowed_mentions', kind],
        code: 'BASE_TYPE_BAD_LENGTH',
        message: 'Must be between 0 and 100 in length.',
      });
    }
  }
}

function mentionedUsers(world: World, text: string): LocalUser[] {
  return unique(text, USER).flatMap((id) => world.users.get(id) ?? []);
}

function mentionedRoles(channel: LocalChannel, text: string): LocalRole[] {
  return unique(text, ROLE).flatMap((id) => channel.guild?.roles.get(id) ?? []);
}

function unique(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap((match) => match[1] ?? []))];
}
