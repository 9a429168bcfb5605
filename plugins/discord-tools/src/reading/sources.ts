import type { ToolSource } from '@cinnabar/sdk';
import type { Channel, Client } from 'discord.js';
import { placeOf } from '../reaching/places.js';

interface Located {
  readonly id: string;
  readonly channelId: string;
}

/** Where messages are from that a tool quotes: a source for each channel. */
export function messageSources(client: Client, messages: readonly Located[]): readonly ToolSource[] {
  const byChannel = new Map<string, string[]>();
  for (const { id, channelId } of messages) byChannel.set(channelId, [...(byChannel.get(channelId) ?? []), id]);
  return [...byChannel].map(([channelId, messageIds]) => ({ ...channelSource(client, channelId), messageIds }));
}

/** A channel or thread of which a tool tells that it is there. */
export function channelSource(client: Client, channelId: string): ToolSource {
  const channel: Channel | undefined = client.channels.cache.get(channelId);
  // Gone meanwhile: then nobody reaches it any more.
  return channel === undefined ? { guildId: null, channelId } : placeOf(channel);
}
