import type {
  APIInteractionDataResolved,
  APIInteractionDataResolvedChannel,
  APIInteractionDataResolvedGuildMember,
} from 'discord-api-types/v10';
import { channelPermissions, guildPermissions } from '../rules/permissions.js';
import type { LocalAttachment } from '../state/attachment.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalGuild } from '../state/guild.js';
import type { LocalMember } from '../state/member.js';
import type { LocalRole } from '../state/role.js';
import type { LocalUser } from '../state/user.js';
import { attachmentPayload } from './attachment.js';
import { memberWithoutUser } from './member.js';
import { rolePayload } from './role.js';
import { isThreadType, threadPayload } from './thread.js';
import { userPayload } from './user.js';

/** What an interaction's values point at, collected while they are read. */
export interface Referred {
  users: Set<LocalUser>;
  roles: Set<LocalRole>;
  channels: Set<LocalChannel>;
  attachments: Set<LocalAttachment>;
}

export function nothingReferred(): Referred {
  return { users: new Set(), roles: new Set(), channels: new Set(), attachments: new Set() };
}

/** `resolved`: the things in full, by id; only the kinds that occur. */
export function resolvedPayload(
  referred: Referred,
  guild: LocalGuild | undefined,
  viewer: LocalUser,
  now: number,
): APIInteractionDataResolved {
  const { users, roles, channels, attachments } = referred;
  return {
    ...(users.size > 0 ? resolvedUsers([...users], guild, now) : {}),
    ...(roles.size > 0 ? { roles: byId([...roles].map(rolePayload)) } : {}),
    ...(channels.size > 0 ? { channels: byId([...channels].map((one) => resolvedChannel(one, viewer, now))) } : {}),
    ...(attachments.size > 0 ? { attachments: byId([...attachments].map(attachmentPayload)) } : {}),
  };
}

/** Users, and for those who are in the guild their membership. */
export function resolvedUsers(users: readonly LocalUser[], guild: LocalGuild | undefined, now: number) {
  const members: Record<string, APIInteractionDataResolvedGuildMember> = {};
  for (const user of users) {
    const member = guild?.members.get(user.id);
    if (member) members[user.id] = resolvedMember(member, now);
  }
  return { users: byId(users.map(userPayload)), ...(guild ? { members } : {}) };
}

function resolvedMember(member: LocalMember, now: number): APIInteractionDataResolvedGuildMember {
  const { deaf: _deaf, mute: _mute, ...fields } = memberWithoutUser(member);
  return { ...fields, permissions: guildPermissions(member, now).toString() };
}

function resolvedChannel(channel: LocalChannel, viewer: LocalUser, now: number): APIInteractionDataResolvedChannel {
  const base = { id: channel.id, name: channel.name, permissions: channelPermissions(channel, viewer, now).toString() };
  if (!isThreadType(channel.type)) return { ...base, type: channel.type };
  const { parent_id, thread_metadata } = threadPayload(channel, channel.type, viewer.id);
  return {
    ...base,
    type: channel.type,
    ...(parent_id === undefined ? {} : { parent_id }),
    ...(thread_metadata === undefined ? {} : { thread_metadata }),
  };
}

function byId<T extends { id: string }>(things: readonly T[]): Record<string, T> {
  return Object.fromEntries(things.map((thing) => [thing.id, thing]));
}
