import {
  type APIEmoji,
  type APIGuildMember,
  type APIGuildMemberNoUser,
  type APIPartialEmoji,
  type APIRole,
  type APIUser,
  type APIWebhook,
  GuildMemberFlags,
  Locale,
  RoleFlags,
  WebhookType,
} from 'discord-api-types/v10';
import type { LocalEmoji, LocalMember, LocalRole } from '../state/guilds.js';
import type { EmojiRef, LocalWebhook, MessageAuthor } from '../state/messages.js';

/** Typed as a number, because the enumeration has no name for 0. */
export const NO_FLAGS: number = 0;

/** A user with the fields that Discord's description requires. */
export function userPayload(user: MessageAuthor): APIUser {
  return {
    id: user.id,
    username: user.username,
    discriminator: user.bot ? '0000' : '0',
    global_name: user.globalName,
    avatar: user.avatar,
    public_flags: NO_FLAGS,
    flags: NO_FLAGS,
    primary_guild: null,
    ...(user.bot ? { bot: true } : {}),
  };
}

/** A bot's own account. */
export function ownUserPayload(user: MessageAuthor): APIUser {
  return { ...userPayload(user), verified: true, mfa_enabled: true, locale: Locale.EnglishUS, email: null };
}

const NO_MEMBER_FLAGS: GuildMemberFlags = GuildMemberFlags.DidRejoin & 0;

/** A member without its user, for messages and mentions. */
export function memberWithoutUser(member: LocalMember): APIGuildMemberNoUser {
  return {
    nick: member.nick,
    roles: [...member.roles].map((role) => role.id),
    joined_at: isoTime(member.joinedAt),
    premium_since: null,
    pending: member.pending,
    communication_disabled_until: isoTimeOrNull(member.timedOutUntil),
    avatar: member.avatar,
    banner: null,
    deaf: member.deaf,
    mute: member.mute,
    flags: NO_MEMBER_FLAGS,
  };
}

export function memberPayload(member: LocalMember): APIGuildMember {
  return { ...memberWithoutUser(member), user: userPayload(member.user) };
}

const NO_ROLE_FLAGS: RoleFlags = RoleFlags.InPrompt & 0;

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
    flags: NO_ROLE_FLAGS,
  };
}

/** A webhook; its token only for users that may use it. */
export function webhookPayload(webhook: LocalWebhook, withCreator: boolean): APIWebhook {
  return {
    id: webhook.id,
    type: WebhookType.Incoming,
    name: webhook.name,
    avatar: webhook.avatar,
    channel_id: webhook.channel.id,
    ...(webhook.channel.guild ? { guild_id: webhook.channel.guild.id } : {}),
    application_id: webhook.application?.id ?? null,
    token: webhook.token,
    ...(withCreator ? { user: userPayload(webhook.creator) } : {}),
  };
}

export function emojiRefPayload(emoji: EmojiRef): APIPartialEmoji {
  return { id: emoji.id, name: emoji.name, ...(emoji.animated ? { animated: true } : {}) };
}

export function emojiPayload(emoji: LocalEmoji): APIEmoji {
  return {
    id: emoji.id,
    name: emoji.name,
    animated: emoji.animated,
    available: true,
    managed: false,
    require_colons: true,
    roles: [],
  };
}

/** A time in Discord's format. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('Z', '000+00:00');
}

export function isoTimeOrNull(timeMs: number | null | undefined): string | null {
  return timeMs === null || timeMs === undefined ? null : isoTime(timeMs);
}
