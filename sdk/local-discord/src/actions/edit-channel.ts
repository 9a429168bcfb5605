import type { z } from 'zod';
import { discordError } from '../errors.js';
import type { channelEditForm } from '../rest/forms/channel.js';
import { canView, channelPermissions, hasChannelPermission, requireInChannel } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import { announceThread } from './announce-thread.js';
import { announceChannel } from './channels.js';

type Changes = z.infer<typeof channelEditForm>;

/** Changes a channel as a member or bot would. @throws 50001, 50013 without ManageChannels (ManageThreads for a thread) */
export function editChannel(world: World, user: LocalUser, channel: LocalChannel, changes: Changes): void {
  if (channel.isDm) throw discordError('wrongChannelTypeDm');
  if (channel.isThread) {
    editThread(world, user, channel, changes);
    return;
  }
  requireInChannel(channel, user, world.clock.now(), 'ManageChannels');
  if (changes.permission_overwrites) requireInChannel(channel, user, world.clock.now(), 'ManageRoles');
  applyCommon(channel, changes);
  if (changes.topic !== undefined) channel.topic = changes.topic;
  if (typeof changes.nsfw === 'boolean') channel.nsfw = changes.nsfw;
  if (typeof changes.position === 'number') channel.position = changes.position;
  if (typeof changes.user_limit === 'number') channel.userLimit = changes.user_limit;
  if (changes.parent_id !== undefined) {
    channel.parent = changes.parent_id === null ? undefined : world.channels.get(changes.parent_id);
  }
  if (changes.available_tags) {
    channel.availableTags = changes.available_tags.map((tag) => ({
      id: channel.availableTags.find(({ id }) => id === tag.id)?.id ?? world.nextId(),
      name: tag.name,
      moderated: tag.moderated ?? false,
      emojiName: tag.emoji_name ?? null,
    }));
  }
  if (changes.permission_overwrites) {
    channel.overwrites.clear();
    for (const { id, type, allow, deny } of changes.permission_overwrites) {
      channel.overwrites.set(id, { id, kind: type === 0 ? 'role' : 'member', allow: allow ?? 0n, deny: deny ?? 0n });
    }
  }
  announceChannel(world, channel);
}

function applyCommon(channel: LocalChannel, changes: Changes): void {
  if (changes.name !== undefined) channel.name = changes.name;
  if (typeof changes.rate_limit_per_user === 'number') channel.slowmodeSeconds = changes.rate_limit_per_user;
}

/** The owner of a thread may rename and archive it; locking, and everything else, is for moderators. */
function editThread(world: World, user: LocalUser, channel: LocalChannel, changes: Changes): void {
  const { thread } = channel;
  if (!thread) throw discordError('wrongChannelType');
  const now = world.clock.now();
  if (!canView(channel, user, now)) throw discordError('missingAccess');
  const moderator = hasChannelPermission(channel, user, now, 'ManageThreads');
  if (!moderator && (thread.owner !== user || changes.locked !== undefined)) throw discordError('missingPermissions');
  if (thread.archived && changes.archived !== false) throw discordError('threadArchived');
  applyCommon(channel, changes);
  if (changes.archived !== undefined && changes.archived !== thread.archived) {
    thread.archived = changes.archived;
    thread.archivedAt = now;
  }
  if (changes.locked !== undefined) thread.locked = changes.locked;
  if (changes.invitable !== undefined) thread.invitable = changes.invitable;
  if (changes.auto_archive_duration !== undefined) thread.autoArchiveMinutes = changes.auto_archive_duration;
  if (changes.applied_tags) thread.appliedTags = [...changes.applied_tags];
  announceThread(world, channel);
}

/** Sets or removes one overwrite. A member can grant only what they have. @throws 50001, 50013, 10009 */
export function editOverwrite(
  world: World,
  user: LocalUser,
  channel: LocalChannel,
  id: string,
  overwrite: { kind: 'role' | 'member'; allow: bigint; deny: bigint } | undefined,
): void {
  const now = world.clock.now();
  requireInChannel(channel, user, now, 'ManageRoles');
  if (!overwrite) {
    if (!channel.overwrites.delete(id)) throw discordError('unknownOverwrite');
  } else {
    const own = channelPermissions(channel, user, now);
    if ((overwrite.allow | overwrite.deny) & ~own) throw discordError('missingPermissions');
    channel.overwrites.set(id, { id, ...overwrite });
  }
  announceChannel(world, channel);
}
