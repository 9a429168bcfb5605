import type { ToolSource } from '@cinnabar/sdk';
import type { Channel, Client } from 'discord.js';
import { placeOf } from '../reaching/places.js';

interface Located {
  readonly id: string;
  readonly channelId: string;
  readonly author: { readonly id: string };
}

/** Where messages are from that a tool quotes: a source for each channel. */
export function messageSources(client: Client, messages: readonly Located[]): readonly ToolSource[] {
  const channels = [...new Set(messages.map(({ channelId }) => channelId))];
  return channels.map((channelId) => {
    const there = messages.filter((message) => message.channelId === channelId);
    const userIds = [...new Set(there.map(({ author }) => author.id))];
    return { ...channelSource(client, channelId), messageIds: there.map(({ id }) => id), userIds };
  });
}

/** A channel or thread of which a tool tells that it is there. */
export function channelSource(client: Client, channelId: string): ToolSource {
  const channel: Channel | undefined = client.channels.cache.get(channelId);
  // The channel is gone: no member can reach it.
  return channel === undefined ? { guildId: null, channelId } : placeOf(channel);
}
