import { UserError } from '@cinnabar/sdk';
import { type Client, PermissionFlagsBits, type SendableChannels } from 'discord.js';
import { isGone } from './errors.js';

/** `undefined` for one that is gone, hidden, or not for messages. */
export async function channelOf(client: Client, channelId: string): Promise<SendableChannels | undefined> {
  try {
    const channel = await client.channels.fetch(channelId);
    return channel?.isSendable() === true ? channel : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** @throws UserError when the bot cannot write there */
export async function writableChannel(client: Client, channelId: string): Promise<SendableChannels> {
  const channel = await channelOf(client, channelId);
  if (channel === undefined) throw new UserError('I cannot see the channel of this task.');
  const own = channel.isDMBased() || client.user === null ? undefined : channel.permissionsFor(client.user);
  const send = channel.isThread() ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  if (channel.isDMBased() || own?.has(PermissionFlagsBits.ViewChannel | send) === true) return channel;
  throw new UserError('I may not write in the channel of this task.');
}

/** Whether a message there can have a thread of its own, and the bot may open and use it. */
export function mayOpenThread(client: Client, channel: SendableChannels): boolean {
  if (channel.isDMBased() || channel.isThread() || !('threads' in channel) || client.user === null) return false;
  const needed = PermissionFlagsBits.CreatePublicThreads | PermissionFlagsBits.SendMessagesInThreads;
  return channel.permissionsFor(client.user)?.has(needed) === true;
}
