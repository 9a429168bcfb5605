import { ChannelType, OverwriteType } from 'discord-api-types/v10';
import { z } from 'zod';
import { discordError } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { channelPayload, guildChannelPayload } from '../payload/channels.js';
import { messageForm, snowflake } from '../rest/message-form.js';
import { route } from '../rest/request.js';
import { permissionBits } from '../rules/permission-names.js';
import {
  canView,
  channelPermissions,
  guildPermissions,
  hasChannelPermission,
  requireInChannel,
} from '../rules/permissions.js';
import { LocalChannel, type Overwrite } from '../state/channels.js';
import { type ChannelInit, type ChannelKind, type LocalGuild, LocalRole, type OverwriteInit } from '../state/guilds.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { channelOf } from './find.js';
import { announceThread } from './threads.js';

const KINDS: Readonly<Record<ChannelKind, ChannelType>> = {
  text: ChannelType.GuildText,
  voice: ChannelType.GuildVoice,
  category: ChannelType.GuildCategory,
  announcement: ChannelType.GuildAnnouncement,
  stage: ChannelType.GuildStageVoice,
  forum: ChannelType.GuildForum,
};

/** Creates a channel and sends it to the bots that see it. Default overwrites are those of the category. */
export function createChannel(world: World, guild: LocalGuild, init: ChannelInit): LocalChannel {
  const type = typeof init.type === 'number' ? init.type : KINDS[init.type ?? 'text'];
  const channel = new LocalChannel(world.nextId(), type, init.name, guild);
  channel.parent = init.parent;
  channel.topic = init.topic ?? null;
  channel.nsfw = init.nsfw ?? false;
  channel.position = init.position ?? guild.channels.size;
  channel.slowmodeSeconds = init.slowmodeSeconds ?? 0;
  channel.userLimit = init.userLimit ?? 0;
  channel.availableTags = (init.availableTags ?? []).map((tag) => ({ ...tag, id: world.nextId() }));
  const overwrites = init.overwrites ?? [...(init.parent?.overwrites.values() ?? [])];
  for (const overwrite of overwrites.map(toOverwrite)) channel.overwrites.set(overwrite.id, overwrite);
  guild.channels.set(channel.id, channel);
  world.channels.set(channel.id, channel);
  broadcast(world, 'CHANNEL_CREATE', { channel }, guildChannelPayload(channel, guild));
  world.notify({ type: 'channelCreate', channel });
  return channel;
}

export function toOverwrite(init: OverwriteInit | Overwrite): Overwrite {
  if ('id' in init) return { ...init };
  return {
    id: init.for.id,
    kind: init.for instanceof LocalRole ? 'role' : 'member',
    allow: permissionBits(init.allow ?? 0n),
    deny: permissionBits(init.deny ?? 0n),
  };
}

/** Sends CHANNEL_UPDATE to all sessions that see the channel after the change. */
export function announceChannel(world: World, channel: LocalChannel): void {
  if (channel.guild) broadcast(world, 'CHANNEL_UPDATE', { channel }, guildChannelPayload(channel, channel.guild));
  world.notify({ type: 'channelEdit', channel });
}

/** Deletes a channel or a thread. A category's channels stay, without a category. */
export function deleteChannel(world: World, channel: LocalChannel): void {
  const { guild } = channel;
  if (guild && channel.isThread) {
    const payload = {
      id: channel.id,
      guild_id: guild.id,
      parent_id: channel.parent?.id ?? guild.id,
      type: channel.type,
    };
    broadcast(world, 'THREAD_DELETE', { channel }, payload);
  } else if (guild) {
    broadcast(world, 'CHANNEL_DELETE', { channel }, guildChannelPayload(channel, guild));
  }
  channel.deleted = true;
  guild?.threads.delete(channel.id);
  guild?.channels.delete(channel.id);
  world.channels.delete(channel.id);
  world.notify({ type: 'channelDelete', channel });
  for (const child of [...(guild?.threads.values() ?? []), ...(guild?.channels.values() ?? [])]) {
    if (child.parent !== channel) continue;
    if (child.isThread) deleteChannel(world, child);
    else child.parent = undefined;
  }
}

type Changes = z.infer<typeof channelEditForm>;

/** Changes a channel as a member or bot would. @throws 50001, 50013 without ManageChannels (ManageThreads for a thread) */
function editChannel(world: World, user: LocalUser, channel: LocalChannel, changes: Changes): void {
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

/** Sets or removes one overwrite. A member can grant only permissions that they have. @throws 50001, 50013, 10009 */
function editOverwrite(
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
    // Permissions in the guild count, too: https://discord.com/developers/docs/resources/channel#edit-channel-permissions
    const member = channel.guild?.members.get(user.id);
    const own = channelPermissions(channel, user, now) | (member ? guildPermissions(member, now) : 0n);
    const before = channel.overwrites.get(id) ?? { allow: 0n, deny: 0n };
    const changed = (before.allow ^ overwrite.allow) | (before.deny ^ overwrite.deny);
    if (changed & ~own) throw discordError('missingPermissions');
    channel.overwrites.set(id, { id, ...overwrite });
  }
  announceChannel(world, channel);
}

const bits = z.union([z.string().regex(/^\d+$/), z.number().int()]).transform((value) => BigInt(value));

const overwriteForm = z.object({
  type: z.enum(OverwriteType),
  allow: bits.nullish(),
  deny: bits.nullish(),
});

const name = z.string().min(1).max(100);
const topic = z.string().max(1_024).nullish();
const slowmode = z.number().int().min(0).max(21_600).nullish();
const tag = z.object({
  /** Set for an existing tag. */
  id: snowflake.nullish(),
  name: z.string().min(1).max(20),
  moderated: z.boolean().optional(),
  emoji_name: z.string().nullish(),
});

export const channelForm = z.object({
  name,
  type: z.enum(ChannelType).nullish(),
  topic,
  nsfw: z.boolean().nullish(),
  position: z.number().int().nullish(),
  parent_id: snowflake.nullish(),
  rate_limit_per_user: slowmode,
  user_limit: z.number().int().min(0).max(10_000).nullish(),
  permission_overwrites: z.array(overwriteForm.extend({ id: snowflake })).nullish(),
  available_tags: z.array(tag).nullish(),
});

const channelEditForm = channelForm.partial().extend({
  archived: z.boolean().optional(),
  locked: z.boolean().optional(),
  invitable: z.boolean().optional(),
  auto_archive_duration: z.number().int().optional(),
  applied_tags: z.array(snowflake).optional(),
});

export const threadForm = z.object({
  name,
  type: z.enum(ChannelType).nullish(),
  auto_archive_duration: z.number().int().nullish(),
  invitable: z.boolean().nullish(),
  rate_limit_per_user: slowmode,
  applied_tags: z.array(snowflake).nullish(),
  message: messageForm.nullish(),
});

export const channelRoutes = [
  route('GET', '/channels/:channelId', (context) => channelPayload(channelOf(context), context.user.id)),
  route('PATCH', '/channels/:channelId', (context) => {
    const channel = channelOf(context);
    editChannel(context.world, context.user, channel, context.form(channelEditForm));
    return channelPayload(channel, context.user.id);
  }),
  route('DELETE', '/channels/:channelId', (context) => {
    const channel = channelOf(context);
    const payload = channelPayload(channel, context.user.id);
    if (channel.isDm) return payload;
    requireInChannel(
      channel,
      context.user,
      context.world.clock.now(),
      channel.isThread ? 'ManageThreads' : 'ManageChannels',
    );
    deleteChannel(context.world, channel);
    return payload;
  }),
  route('PUT', '/channels/:channelId/permissions/:overwriteId', (context) => {
    const { type, allow, deny } = context.form(overwriteForm);
    const overwrite = {
      kind: type === 0 ? ('role' as const) : ('member' as const),
      allow: allow ?? 0n,
      deny: deny ?? 0n,
    };
    editOverwrite(context.world, context.user, channelOf(context), context.param('overwriteId'), overwrite);
    return undefined;
  }),
  route('DELETE', '/channels/:channelId/permissions/:overwriteId', (context) => {
    editOverwrite(context.world, context.user, channelOf(context), context.param('overwriteId'), undefined);
    return undefined;
  }),
  route('GET', '/channels/:channelId/invites', (context) => {
    requireInChannel(channelOf(context), context.user, context.world.clock.now(), 'ManageChannels');
    return [];
  }),
];
