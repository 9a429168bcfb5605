import {
  type APIChannel,
  type APIOverwrite,
  ChannelType,
  ForumLayoutType,
  type GuildChannelType,
  OverwriteType,
  type ThreadChannelType,
} from 'discord-api-types/v10';
import type { LocalChannel } from '../state/channel.js';
import type { LocalGuild } from '../state/guild.js';
import { isThreadType, threadPayload } from './thread.js';
import { isoTimeOrNull } from './time.js';
import { NO_FLAGS, userPayload } from './user.js';

export type GuildChannelPayload = APIChannel & { type: Exclude<GuildChannelType, ThreadChannelType>; guild_id: string };

/** A channel as one user sees it; the user matters to a DM, which lists the *other* end, and to a thread. */
export function channelPayload(channel: LocalChannel, viewerId: string): APIChannel {
  if (isThreadType(channel.type)) return threadPayload(channel, channel.type, viewerId);
  if (channel.guild) return guildChannelPayload(channel, channel.guild);
  return {
    id: channel.id,
    type: ChannelType.DM,
    name: null,
    flags: NO_FLAGS,
    ...lastThings(channel),
    recipients: channel.recipients.filter((user) => user.id !== viewerId).map(userPayload),
  };
}

/** A channel of a guild that is no thread: the same for everybody. */
export function guildChannelPayload(channel: LocalChannel, guild: LocalGuild): GuildChannelPayload {
  const base = guildChannelBase(channel, guild);
  const slowmode = { rate_limit_per_user: channel.slowmodeSeconds };
  const voice = { ...base, ...slowmode, bitrate: channel.bitrate, user_limit: channel.userLimit, rtc_region: null };
  const text = { ...base, ...lastThings(channel), topic: channel.topic };
  switch (channel.type) {
    case ChannelType.GuildCategory:
      return { ...base, type: ChannelType.GuildCategory, parent_id: null };
    case ChannelType.GuildVoice:
      return { ...voice, type: ChannelType.GuildVoice, last_message_id: channel.lastMessageId ?? null };
    case ChannelType.GuildStageVoice:
      return { ...voice, type: ChannelType.GuildStageVoice, last_message_id: channel.lastMessageId ?? null };
    case ChannelType.GuildForum:
      return { ...text, ...slowmode, ...forumFields(channel), type: ChannelType.GuildForum };
    case ChannelType.GuildAnnouncement:
      return { ...text, type: ChannelType.GuildAnnouncement };
    default:
      return { ...text, ...slowmode, type: ChannelType.GuildText };
  }
}

function lastThings(channel: LocalChannel) {
  return { last_message_id: channel.lastMessageId ?? null, last_pin_timestamp: isoTimeOrNull(channel.lastPinAt) };
}

function guildChannelBase(channel: LocalChannel, guild: LocalGuild) {
  return {
    id: channel.id,
    name: channel.name,
    guild_id: guild.id,
    flags: NO_FLAGS,
    parent_id: channel.parent?.id ?? null,
    position: channel.position,
    nsfw: channel.nsfw,
    permission_overwrites: overwritesPayload(channel),
  };
}

function overwritesPayload(channel: LocalChannel): APIOverwrite[] {
  return [...channel.overwrites.values()].map((overwrite) => ({
    id: overwrite.id,
    type: overwrite.kind === 'role' ? OverwriteType.Role : OverwriteType.Member,
    allow: overwrite.allow.toString(),
    deny: overwrite.deny.toString(),
  }));
}

function forumFields(channel: LocalChannel) {
  return {
    available_tags: channel.availableTags.map((tag) => ({
      id: tag.id,
      name: tag.name,
      moderated: tag.moderated,
      emoji_id: null,
      emoji_name: tag.emojiName,
    })),
    default_reaction_emoji: null,
    default_sort_order: null,
    default_forum_layout: ForumLayoutType.NotSet,
  };
}
