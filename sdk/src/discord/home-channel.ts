import type { Client } from 'discord.js';

/**
 * The channel that a thread belongs to; any other channel itself. What is kept for a channel (a budget, a party) holds in its threads.
 * A channel that is gone or cannot be seen counts as one of its own.
 */
export async function homeChannelOf(client: Pick<Client, 'channels'>, channelId: string): Promise<string> {
  const channel = client.channels.cache.get(channelId) ?? (await client.channels.fetch(channelId).catch(() => null));
  return channel?.isThread() === true ? (channel.parentId ?? channelId) : channelId;
}
