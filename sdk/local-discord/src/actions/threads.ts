import { ChannelType } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { audience, broadcastEach } from '../gateway/dispatch.js';
import { isThreadType, threadPayload } from '../payload/thread.js';
import { LocalChannel } from '../state/channel.js';
import type { LocalMessage } from '../state/message.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import { announceEdit } from './announce-message.js';
import { announceThread, announceThreadMember } from './announce-thread.js';

export interface ThreadOptions {
  name: string;
  type?: ChannelType | undefined;
  autoArchiveMinutes?: number | undefined;
  invitable?: boolean | undefined;
  slowmodeSeconds?: number | undefined;
  appliedTags?: readonly string[] | undefined;
  /** Makes the thread hang on this message, whose id it then has. */
  from?: LocalMessage | undefined;
}

/** Starts a thread and tells everybody. It does not ask whether the owner may. @throws 50024, 160004 */
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

/** A message in an archived thread opens it again. */
export function wakeThread(world: World, channel: LocalChannel): void {
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
  const heard = audience(world, 'THREAD_MEMBERS_UPDATE', { channel: thread });
  thread.thread.members.delete(user.id);
  announceThreadMember(world, thread, { removed: user }, heard);
}
