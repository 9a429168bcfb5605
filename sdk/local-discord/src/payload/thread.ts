import {
  type APIThreadChannel,
  type APIThreadMember,
  ChannelType,
  type ThreadAutoArchiveDuration,
  type ThreadChannelType,
  ThreadMemberFlags,
} from 'discord-api-types/v10';
import type { LocalChannel, ThreadState } from '../state/channel.js';
import { isoTime, isoTimeOrNull } from './time.js';
import { NO_FLAGS } from './user.js';

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
