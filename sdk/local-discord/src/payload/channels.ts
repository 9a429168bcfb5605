import {
  type APIChannel,
  type APIOverwrite,
  type APIThreadChannel,
  type APIThreadMember,
  ChannelType,
  ForumLayoutType,
  type GuildChannelType,
  OverwriteType,
  type ThreadAutoArchiveDuration,
  type ThreadChannelType,
  ThreadMemberFlags,
} from 'discord-api-types/v10';
import type { LocalChannel, ThreadState } from '../state/channels.js';
import type { LocalGuild } from '../state/guilds.js';
import { isoTime, isoTimeOrNull, NO_FLAGS, userPayload } from './users.js';

type GuildChannelPayload = APIChannel & { type: Exclude<GuildChannelType, ThreadChannelType>; guild_id: string };

/** A channel for one viewer: a DM lists the *other* participants, and a thread the viewer's membership. */
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

/** A channel of a guild that is not a thread: equal for all viewers. */
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

const NO_MEMBER_FLAGS: ThreadMemberFlags = ThreadMemberFlags.HasInteracted & 0;
const DURATIONS: readonly ThreadAutoArchiveDuration[] = [60, 1440, 4320, 10_080];

export function isThreadType(type: ChannelType): type is ThreadChannelType {
  return (
    type === ChannelType.PublicThread || type === ChannelType.PrivateThread || type === ChannelType.AnnouncementThread
  );
}

/** A thread; with `member` when the viewer has joined it. Generic so that each thread type keeps its own payload type. */
export function threadPayload<T extends ThreadChannelType>(
  channel: LocalChannel,
  type: T,
  viewerId: string,
): APIThreadChannel<T> {
  const { thread } = channel;
  const joinedAt = thread?.members.get(viewerId);
  return {
    id: channel.id,
    type,
    name: channel.name,
    flags: NO_FLAGS,
    ...(channel.guild ? { guild_id: channel.guild.id } : {}),
    ...(channel.parent ? { parent_id: channel.parent.id } : {}),
    rate_limit_per_user: channel.slowmodeSeconds,
    last_message_id: channel.lastMessageId ?? null,
    last_pin_timestamp: isoTimeOrNull(channel.lastPinAt),
    message_count: channel.messagesById.size,
    total_message_sent: channel.messagesById.size,
    ...(thread ? { ...threadFields(thread) } : {}),
    ...(joinedAt === undefined ? {} : { member: threadMemberPayload(channel, viewerId, joinedAt) }),
  };
}

function threadFields(thread: ThreadState) {
  return {
    owner_id: thread.owner.id,
    member_count: thread.members.size,
    applied_tags: thread.appliedTags,
    thread_metadata: {
      archived: thread.archived,
      archive_timestamp: isoTime(thread.archivedAt),
      auto_archive_duration: DURATIONS.find((minutes) => minutes >= thread.autoArchiveMinutes) ?? 10_080,
      locked: thread.locked,
      invitable: thread.invitable,
      create_timestamp: isoTime(thread.createdAt),
    },
  };
}

export function threadMemberPayload(channel: LocalChannel, userId: string, joinedAt: number): APIThreadMember {
  return { id: channel.id, user_id: userId, join_timestamp: isoTime(joinedAt), flags: NO_MEMBER_FLAGS };
}
