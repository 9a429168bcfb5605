import type { Actor } from '@cinnabar/sdk';
import type { Client, PermissionsString, SendableChannels } from 'discord.js';
import { isGone } from './errors.js';

/** Where a card goes, or the permission that is missing for it. */
export type Place =
  | { readonly channel: SendableChannels; missing(...wanted: readonly PermissionsString[]): PermissionsString[] }
  | { readonly blockedBy: PermissionsString };

/** In a direct message nothing is ever missing. */
export async function placeOf(client: Client, { channelId }: Pick<Actor, 'channelId'>): Promise<Place> {
  const channel = await channelOf(client, channelId);
  if (channel === undefined) return { blockedBy: 'ViewChannel' };
  const own = channel.isDMBased() || client.user === null ? undefined : channel.permissionsFor(client.user);
  const missing = (...wanted: readonly PermissionsString[]) =>
    own === undefined ? [] : wanted.filter((permission) => own?.has(permission) !== true);
  const [blockedBy] = missing('ViewChannel', channel.isThread() ? 'SendMessagesInThreads' : 'SendMessages');
  return blockedBy === undefined ? { channel, missing } : { blockedBy };
}

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
