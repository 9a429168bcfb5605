import {
  type APIInteractionDataResolved,
  type APIInteractionDataResolvedChannel,
  type APIInteractionDataResolvedGuildMember,
  InteractionContextType,
  Locale,
} from 'discord-api-types/v10';
import { channelPermissions, guildPermissions } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalGuild, LocalMember, LocalRole } from '../state/guilds.js';
import type { LocalInteraction } from '../state/interactions.js';
import type { LocalAttachment } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import { channelPayload, isThreadType, threadPayload } from './channels.js';
import { attachmentPayload, integrationOwners } from './messages.js';
import { memberPayload, memberWithoutUser, rolePayload, userPayload } from './users.js';

const ATTACHMENT_LIMIT = 10 * 1024 * 1024;

/** The common fields of all kinds of interactions: user, place and permissions. */
export function interactionBase(interaction: LocalInteraction, now: number) {
  const { application, channel, user } = interaction;
  const { guild } = channel;
  const member = guild?.members.get(user.id);
  return {
    id: interaction.id,
    application_id: application.id,
    token: interaction.token,
    version: 1 as const,
    channel_id: channel.id,
    channel: channelPayload(channel, application.id),
    app_permissions: channelPermissions(channel, application.user, now).toString(),
    locale: user.locale,
    entitlements: [],
    authorizing_integration_owners: integrationOwners(interaction),
    attachment_size_limit: ATTACHMENT_LIMIT,
    context: guild ? InteractionContextType.Guild : InteractionContextType.BotDM,
    ...(guild && member
      ? {
          guild_id: guild.id,
          guild: { id: guild.id, locale: Locale.EnglishUS, features: [] },
          guild_locale: Locale.EnglishUS,
          member: { ...memberPayload(member), permissions: channelPermissions(channel, user, now).toString() },
        }
      : { user: userPayload(user) }),
  };
}

/** The objects that an interaction's values refer to, collected while the values are read. */
export interface Referred {
  users: Set<LocalUser>;
  roles: Set<LocalRole>;
  channels: Set<LocalChannel>;
  attachments: Set<LocalAttachment>;
}

export function nothingReferred(): Referred {
  return { users: new Set(), roles: new Set(), channels: new Set(), attachments: new Set() };
}

/** `resolved`: the objects by id, in the kinds that occur. */
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

/** Users, and the memberships of those who are in the guild. */
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
