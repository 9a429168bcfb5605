import { ChannelType } from 'discord-api-types/v10';
import { broadcast } from '../gateway/dispatch.js';
import { guildChannelPayload } from '../payload/channel.js';
import { permissionBits } from '../rules/permission-names.js';
import { LocalChannel } from '../state/channel.js';
import type { ChannelInit, ChannelKind, LocalGuild, OverwriteInit } from '../state/guild.js';
import type { Overwrite } from '../state/overwrite.js';
import { LocalRole } from '../state/role.js';
import type { World } from '../state/world.js';

const KINDS: Readonly<Record<ChannelKind, ChannelType>> = {
  text: ChannelType.GuildText,
  voice: ChannelType.GuildVoice,
  category: ChannelType.GuildCategory,
  announcement: ChannelType.GuildAnnouncement,
  stage: ChannelType.GuildStageVoice,
  forum: ChannelType.GuildForum,
};

/** Makes a channel and tells everybody who sees it. Overwrites are the category's unless given. */
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

/** CHANNEL_UPDATE to everybody who sees the channel now. */
export function announceChannel(world: World, channel: LocalChannel): void {
  if (channel.guild) broadcast(world, 'CHANNEL_UPDATE', { channel }, guildChannelPayload(channel, channel.guild));
  world.notify({ type: 'channelEdit', channel });
}

/** Deletes a channel or a thread; a category's channels stay and stand alone. */
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
