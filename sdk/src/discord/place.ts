import type { Client, SendableChannels } from 'discord.js';
import type { Place } from '../access.js';
import { unlessUnreachable } from './errors.js';

/**
 * A channel as a place, asked of Discord where it is not known (an archived thread, for instance). One that cannot be found counts as a direct
 * message, which no member can enter but those whose it is.
 */
export async function findPlace(client: Client, channelId: string): Promise<Place> {
  const channel = await client.channels.fetch(channelId).catch(() => null);
  return { guildId: channel === null || channel.isDMBased() ? null : channel.guildId, channelId };
}

/** The channel, asked of Discord where it is not known; `undefined` when it is gone, hidden from the bot, or not for messages. */
export async function findSendable(client: Client, channelId: string): Promise<SendableChannels | undefined> {
  const channel = await unlessUnreachable(client.channels.fetch(channelId));
  return channel?.isSendable() === true ? channel : undefined;
}
