import { UserError } from '@cinnabar/sdk';
import {
  type AnyThreadChannel,
  type CategoryChannel,
  type Channel,
  ChannelType,
  type Client,
  type ForumChannel,
  type GuildChannel,
  type MediaChannel,
  type Message,
  type PartialGroupDMChannel,
  type SendableChannels,
  type TextBasedChannel,
} from 'discord.js';
import { findChannel } from './places.js';
import { readChannel, readMessage } from './references.js';

/**
 * The channel of a call whose place the host has decided on, as the kind that the tool works with. Each throws a `UserError` where it is
 * of another kind, or has gone since.
 */

export const UNREACHABLE = 'There is no channel with that id that I can reach.';

export async function channelOf(client: Client, text: string): Promise<Channel> {
  const channel = await findChannel(client, readChannel(text).channelId);
  if (channel === undefined) throw new UserError(UNREACHABLE);
  return channel;
}

/** A channel in which messages are: text, voice, thread, direct message. */
export type ReadableChannel = Exclude<TextBasedChannel, PartialGroupDMChannel>;

export async function readableChannel(client: Client, text: string): Promise<ReadableChannel> {
  return asReadable(await channelOf(client, text));
}

export async function sendableChannel(
  client: Client,
  text: string,
): Promise<Exclude<SendableChannels, PartialGroupDMChannel>> {
  const channel = asReadable(await channelOf(client, text));
  if (!channel.isSendable()) throw new UserError('Nothing can be sent in a channel of this kind.');
  return channel;
}

/** The message itself, asked of Discord anew. */
export async function messageOf(client: Client, channel: string, message: string): Promise<Message> {
  const reference = readMessage(channel, message);
  const readable = await readableChannel(client, reference.channel.channelId);
  return readable.messages.fetch({ message: reference.messageId, force: true });
}

/** A channel of a guild that is neither thread nor category. */
export async function guildChannel(client: Client, text: string): Promise<GuildChannel> {
  const channel = await channelOf(client, text);
  if (channel.isThread()) throw new UserError('That is a thread; there are tools of their own for threads.');
  if (channel.isDMBased()) throw new UserError('That is a direct message, not a channel of a server.');
  if (channel.type === ChannelType.GuildCategory)
    throw new UserError('That is a category; there are tools of their own for them.');
  return channel;
}

export async function categoryChannel(client: Client, text: string): Promise<CategoryChannel> {
  const channel = await channelOf(client, text);
  if (channel.type !== ChannelType.GuildCategory) throw new UserError('That is not a category.');
  return channel;
}

export type Forum = ForumChannel | MediaChannel;

export async function forumChannel(client: Client, text: string): Promise<Forum> {
  const channel = await channelOf(client, text);
  if (!channel.isThreadOnly()) throw new UserError('That is not a forum channel.');
  return channel;
}

export async function threadChannel(client: Client, text: string): Promise<AnyThreadChannel> {
  const channel = await channelOf(client, text);
  if (!channel.isThread()) throw new UserError('That is not a thread.');
  return channel;
}

/** A thread of a forum. */
export async function forumPost(client: Client, text: string): Promise<{ post: AnyThreadChannel; forum: Forum }> {
  const post = await threadChannel(client, text);
  const forum = post.parent;
  if (forum === null || !forum.isThreadOnly()) throw new UserError('That is not a post of a forum.');
  return { post, forum };
}

function asReadable(channel: Channel): ReadableChannel {
  if (channel.isTextBased() && channel.type !== ChannelType.GroupDM) return channel;
  throw new UserError('There are no messages in a channel of this kind.');
}
