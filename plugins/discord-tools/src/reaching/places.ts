import type { Place } from '@cinnabar/sdk';
import type { Channel, Client } from 'discord.js';
import { DiscordAPIError, type Webhook } from 'discord.js';
import { isGone } from './discord-errors.js';
import { type ChannelReference, readChannel, readId, readMessage } from './references.js';

/**
 * Where a call takes effect. What does not exist gets a place that nobody reaches, so that the host refuses it in the very words in which
 * it refuses what exists elsewhere: a refusal must not tell which of the two it was.
 */

export async function channelPlace(client: Client, channel: string): Promise<Place> {
  return referencePlace(client, readChannel(channel));
}

export async function messagePlace(client: Client, channel: string, message: string): Promise<Place> {
  return referencePlace(client, readMessage(channel, message).channel);
}

export function guildPlace(guild: string): Place {
  return { guildId: readId(guild, 'server') };
}

/** A channel that is made takes effect in its category, or else in the guild. */
export async function categoryPlace(client: Client, guild: string, category: string | undefined): Promise<Place> {
  const whole = guildPlace(guild);
  if (category === undefined) return whole;
  const place = await channelPlace(client, category);
  return place.guildId === whole.guildId ? place : nowhere(readChannel(category));
}

/** A webhook speaks in its channel, or in one of that channel's threads. */
export async function webhookPlace(client: Client, webhook: string, thread?: string): Promise<Place> {
  const found = await findWebhook(client, webhook);
  if (found === undefined) return nowhere({ channelId: readId(webhook, 'webhook') });
  if (thread === undefined) return { guildId: found.guildId, channelId: found.channelId };
  const reference = readChannel(thread);
  const channel = await findChannel(client, reference.channelId);
  if (channel?.isThread() !== true || channel.parentId !== found.channelId) return nowhere(reference);
  return placeOf(channel);
}

export function placeOf(channel: Channel): Place {
  return { guildId: channel.isDMBased() ? null : channel.guildId, channelId: channel.id };
}

/** `undefined` for one that does not exist, or not for the bot. */
export async function findChannel(client: Client, channelId: string): Promise<Channel | undefined> {
  const known = client.channels.cache.get(channelId);
  if (known !== undefined) return known;
  try {
    return (await client.channels.fetch(channelId)) ?? undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

const NOT_OURS = 50013;

/** `undefined` for one that does not exist, or that the bot may not manage. */
export async function findWebhook(client: Client, webhook: string): Promise<Webhook | undefined> {
  try {
    return await client.fetchWebhook(readId(webhook, 'webhook'));
  } catch (error) {
    if (isGone(error) || (error instanceof DiscordAPIError && error.code === NOT_OURS)) return undefined;
    throw error;
  }
}

async function referencePlace(client: Client, reference: ChannelReference): Promise<Place> {
  const channel = await findChannel(client, reference.channelId);
  if (channel === undefined) return nowhere(reference);
  const place = placeOf(channel);
  return reference.guildId === undefined || reference.guildId === place.guildId ? place : nowhere(reference);
}

/** A conversation that nobody is in. */
const nowhere = ({ channelId }: ChannelReference): Place => ({ guildId: null, channelId: `${channelId}?` });
