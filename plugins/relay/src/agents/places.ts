import type { Channel, GuildBasedChannel } from 'discord.js';

/** A channel, and what it belongs to: a thread's channel. What holds there holds here, unless the channel has its own. */
export function placesOf(channel: Channel): readonly string[] {
  return channel.isThread() && channel.parentId !== null ? [channel.id, channel.parentId] : [channel.id];
}

/** The same, with the category: what an agent is let into, it is let into with everything below. */
export function containersOf(channel: GuildBasedChannel): readonly string[] {
  const parent = channel.isThread() ? channel.parent : channel;
  const ids = [channel.id, parent?.id, parent?.parentId];
  return ids.filter((id): id is string => typeof id === 'string');
}
