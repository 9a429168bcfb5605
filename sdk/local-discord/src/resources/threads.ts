import { ChannelType, GatewayIntentBits } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { broadcastEach, receivingSessions } from '../gateway/dispatch.js';
import type { GatewaySession } from '../gateway/session.js';
import { isThreadType, threadMemberPayload, threadPayload } from '../payload/channels.js';
import { memberPayload } from '../payload/users.js';
import { LocalChannel } from '../state/channels.js';
import type { LocalMessage } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { announceEdit } from './message-events.js';

interface ThreadOptions {
  name: string;
  type?: ChannelType | undefined;
  autoArchiveMinutes?: number | undefined;
  invitable?: boolean | undefined;
  slowmodeSeconds?: number | undefined;
  appliedTags?: readonly string[] | undefined;
  /** The message that the thread is attached to; the thread then has the same id. */
  from?: LocalMessage | undefined;
}

/** Starts a thread and sends THREAD_CREATE, without a check of permissions. @throws 50024, 160004 */
export function createThread(
  world: World,
  parent: LocalChannel,
  owner: LocalUser,
  options: ThreadOptions,
): LocalChannel {
  const { guild } = parent;
  if (!guild || parent.isThread) throw discordError('wrongChannelType');
  if (options.from?.thread) throw discordError('threadAlreadyExists');
  const now = world.clock.now();
  const thread = new LocalChannel(options.from?.id ?? world.nextId(), threadType(parent, options), options.name, guild);
  thread.parent = parent;
  thread.slowmodeSeconds = options.slowmodeSeconds ?? 0;
  thread.thread = {
    owner,
    members: new Map([[owner.id, now]]),
    createdAt: now,
    archived: false,
    archivedAt: now,
    autoArchiveMinutes: options.autoArchiveMinutes ?? 4_320,
    locked: false,
    invitable: options.invitable ?? true,
    appliedTags: [...(options.appliedTags ?? [])],
  };
  guild.threads.set(thread.id, thread);
  world.channels.set(thread.id, thread);
  broadcastEach(world, 'THREAD_CREATE', { channel: thread }, (application) => ({
    ...threadPayload(thread, isThreadType(thread.type) ? thread.type : ChannelType.PublicThread, application.id),
    newly_created: true,
  }));
  world.notify({ type: 'channelCreate', channel: thread });
  if (options.from) {
    options.from.thread = thread;
    announceEdit(world, options.from, false);
  }
  return thread;
}

function threadType(parent: LocalChannel, options: ThreadOptions): ChannelType {
  if (parent.type === ChannelType.GuildAnnouncement) return ChannelType.AnnouncementThread;
  if (options.from || parent.type === ChannelType.GuildForum) return ChannelType.PublicThread;
  return options.type ?? ChannelType.PrivateThread;
}

/** A message in an archived thread reopens it. */
export function unarchiveThread(world: World, channel: LocalChannel): void {
  if (!channel.thread?.archived) return;
  channel.thread.archived = false;
  channel.thread.archivedAt = world.clock.now();
  announceThread(world, channel);
}

export function addThreadMember(world: World, thread: LocalChannel, user: LocalUser): void {
  if (!thread.thread) throw discordError('wrongChannelType');
  if (!thread.guild?.members.has(user.id)) throw discordError('unknownMember');
  if (thread.thread.archived) throw discordError('threadArchived');
  if (thread.thread.members.has(user.id)) return;
  thread.thread.members.set(user.id, world.clock.now());
  announceThreadMember(world, thread, { added: user });
}

export function removeThreadMember(world: World, thread: LocalChannel, user: LocalUser): void {
  if (!thread.thread) throw discordError('wrongChannelType');
  if (thread.thread.archived) throw discordError('threadArchived');
  if (!thread.thread.members.has(user.id)) throw discordError('unknownMember');
  const receiving = receivingSessions(world, 'THREAD_MEMBERS_UPDATE', { channel: thread });
  thread.thread.members.delete(user.id);
  announceThreadMember(world, thread, { removed: user }, receiving);
}

export function announceThread(world: World, thread: LocalChannel): void {
  broadcastEach(world, 'THREAD_UPDATE', { channel: thread }, (application) =>
    threadPayload(thread, isThreadType(thread.type) ? thread.type : ChannelType.PublicThread, application.id),
  );
  world.notify({ type: 'channelEdit', channel: thread });
}

/**
 * Sends THREAD_MEMBERS_UPDATE. The caller may name the receiving bots, because a bot that loses access to the thread by the change receives the event, too.
 * Without the intent for members a bot receives only events about itself: https://docs.discord.com/developers/events/gateway-events#thread-members-update
 */
function announceThreadMember(
  world: World,
  thread: LocalChannel,
  change: { added?: LocalUser; removed?: LocalUser },
  receiving: GatewaySession[] = receivingSessions(world, 'THREAD_MEMBERS_UPDATE', { channel: thread }),
): void {
  const { guild } = thread;
  if (!guild || !thread.thread) return;
  const member = change.added && guild.members.get(change.added.id);
  const payload = {
    id: thread.id,
    guild_id: guild.id,
    member_count: thread.thread.members.size,
    ...(member
      ? {
          added_members: [
            {
              ...threadMemberPayload(thread, member.user.id, world.clock.now()),
              member: memberPayload(member),
              presence: null,
            },
          ],
        }
      : {}),
    ...(change.removed ? { removed_member_ids: [change.removed.id] } : {}),
  };
  const json = JSON.stringify(payload);
  const changed = change.added ?? change.removed;
  for (const session of receiving) {
    const hearsOfAll = (session.intents & GatewayIntentBits.GuildMembers) !== 0;
    if (hearsOfAll || session.application.user === changed) session.dispatch('THREAD_MEMBERS_UPDATE', json);
  }
}
