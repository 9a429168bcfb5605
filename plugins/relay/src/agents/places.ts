import type { IdentityGrant } from '@cinnabar/sdk';
import type { Channel, GuildBasedChannel } from 'discord.js';

/** A channel, and what it belongs to: a thread's channel. What holds there holds here, unless the channel has its own. */
export function placesOf(channel: Channel): readonly string[] {
  return channel.isThread() && channel.parentId !== null ? [channel.id, channel.parentId] : [channel.id];
}

/** The same, with the category: what an agent is let into, it is let into with everything below. */
function containersOf(channel: GuildBasedChannel): readonly string[] {
  const parent = channel.isThread() ? channel.parent : channel;
  const ids = [channel.id, parent?.id, parent?.parentId];
  return ids.filter((id): id is string => typeof id === 'string');
}

/** Whether somebody who was let into these channels has been let into this one. What they may do there is decided for each call. */
export function isLetInto(channels: IdentityGrant['channels'], channel: Channel): boolean {
  if (channels === 'all') return true;
  const ids = channel.isDMBased() ? [channel.id] : containersOf(channel);
  return ids.some((id) => channels.includes(id));
}
