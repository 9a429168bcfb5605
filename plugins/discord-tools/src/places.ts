import {
  isForbidden,
  type Place,
  plainText,
  type ToolSource,
  t,
  UserError,
  unlessUnreachable,
  visible,
} from '@cinnabar/sdk';
import {
  type AnyThreadChannel,
  type CategoryChannel,
  type Channel,
  ChannelType,
  type Client,
  type ForumChannel,
  type Guild,
  type GuildChannel,
  type GuildMember,
  type MediaChannel,
  type Message,
  type PartialGroupDMChannel,
  type Role,
  type SendableChannels,
  type TextBasedChannel,
  type Webhook,
} from 'discord.js';
import { type ChannelReference, readChannel, readId, readMessage } from './arguments.js';

/**
 * The place where a call takes effect. For a channel that does not exist, it is one that no member can reach, so that the host refuses both with the same
 * sentence: a refusal must not reveal whether the channel exists.
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

/** The place of a new channel: its category, otherwise the guild. */
export async function categoryPlace(client: Client, guild: string, category: string | undefined): Promise<Place> {
  const whole = guildPlace(guild);
  if (category === undefined) return whole;
  const place = await channelPlace(client, category);
  return place.guildId === whole.guildId ? place : nowhere(readChannel(category));
}

/** The place of a webhook's messages: its channel, or a thread of that channel. */
export async function webhookPlace(client: Client, webhook: string, thread?: string): Promise<Place> {
  const found = await findWebhook(client, webhook);
  if (found === undefined) return nowhere({ channelId: readId(webhook, 'webhook') });
  if (thread === undefined) return { guildId: found.guildId, channelId: found.channelId };
  const reference = readChannel(thread);
  const channel = await findChannelAnywhere(client, reference.channelId);
  if (channel?.isThread() !== true || channel.parentId !== found.channelId) return nowhere(reference);
  return placeOf(channel);
}

export function placeOf(channel: Channel): Place {
  return { guildId: channel.isDMBased() ? null : channel.guildId, channelId: channel.id };
}

/** `undefined` for a channel that does not exist, or that the bot cannot see. */
export async function findChannel(client: Client, channelId: string): Promise<Channel | undefined> {
  const known = client.channels.cache.get(channelId);
  if (known !== undefined) return known;
  return (await unlessUnreachable(client.channels.fetch(channelId))) ?? undefined;
}

/** A channel, possibly in a guild of another process: then only its ids and its type can be used. */
async function findChannelAnywhere({ channels }: Client, channelId: string): Promise<Channel | undefined> {
  return (await unlessUnreachable(channels.fetch(channelId, { allowUnknownGuild: true }))) ?? undefined;
}

/** `undefined` for a webhook that does not exist, or that the bot may not manage. */
export async function findWebhook(client: Client, webhook: string): Promise<Webhook | undefined> {
  return unlessUnreachable(client.fetchWebhook(readId(webhook, 'webhook')));
}

async function referencePlace(client: Client, reference: ChannelReference): Promise<Place> {
  const channel = await findChannelAnywhere(client, reference.channelId);
  if (channel === undefined) return nowhere(reference);
  const place = placeOf(channel);
  return reference.guildId === undefined || reference.guildId === place.guildId ? place : nowhere(reference);
}

/** A place that no member can reach. */
const nowhere = ({ channelId }: ChannelReference): Place => ({ guildId: null, channelId: `${channelId}?` });

/**
 * The objects that a call names, resolved after the host has decided about its place. Each function throws a `UserError` when the object is of another kind, or
 * was deleted meanwhile.
 */

export const unreachableChannel = () => new UserError(t('There is no channel with that id that I can reach.'));

export const unreachableGuild = () => new UserError(t('There is no server with that id that I can reach.'));

export async function channelOf(client: Client, text: string): Promise<Channel> {
  const channel = await findChannel(client, readChannel(text).channelId);
  if (channel === undefined) throw unreachableChannel();
  return channel;
}

/** A channel with messages: text, voice, thread, direct message. */
export type ReadableChannel = Exclude<TextBasedChannel, PartialGroupDMChannel>;

export async function readableChannel(client: Client, text: string): Promise<ReadableChannel> {
  return asReadable(await channelOf(client, text));
}

export async function sendableChannel(
  client: Client,
  text: string,
): Promise<Exclude<SendableChannels, PartialGroupDMChannel>> {
  const channel = asReadable(await channelOf(client, text));
  if (!channel.isSendable()) throw new UserError(t('Nothing can be sent in a channel of this kind.'));
  return channel;
}

/** Fetches the message from Discord. @throws UserError */
export async function messageOf(client: Client, channel: string, message: string): Promise<Message> {
  const reference = readMessage(channel, message);
  const readable = await readableChannel(client, reference.channel.channelId);
  return readable.messages.fetch({ message: reference.messageId, force: true });
}

/** A channel of a guild that is neither thread nor category. */
export async function guildChannel(client: Client, text: string): Promise<GuildChannel> {
  const channel = await channelOf(client, text);
  if (channel.isThread()) throw new UserError(t('That is a thread; there are tools of their own for threads.'));
  if (channel.isDMBased()) throw new UserError(t('That is a direct message, not a channel of a server.'));
  if (channel.type === ChannelType.GuildCategory)
    throw new UserError(t('That is a category; there are tools of their own for them.'));
  return channel;
}

export async function categoryChannel(client: Client, text: string): Promise<CategoryChannel> {
  const channel = await channelOf(client, text);
  if (channel.type !== ChannelType.GuildCategory) throw new UserError(t('That is not a category.'));
  return channel;
}

export type Forum = ForumChannel | MediaChannel;

export async function forumChannel(client: Client, text: string): Promise<Forum> {
  const channel = await channelOf(client, text);
  if (!channel.isThreadOnly()) throw new UserError(t('That is not a forum channel.'));
  return channel;
}

export async function threadChannel(client: Client, text: string): Promise<AnyThreadChannel> {
  const channel = await channelOf(client, text);
  if (!channel.isThread()) throw new UserError(t('That is not a thread.'));
  return channel;
}

/** A thread of a forum. */
export async function forumPost(client: Client, text: string): Promise<{ post: AnyThreadChannel; forum: Forum }> {
  const post = await threadChannel(client, text);
  const forum = post.parent;
  if (forum === null || !forum.isThreadOnly()) throw new UserError(t('That is not a post of a forum.'));
  return { post, forum };
}

function asReadable(channel: Channel): ReadableChannel {
  if (channel.isTextBased() && channel.type !== ChannelType.GroupDM) return channel;
  throw new UserError(t('There are no messages in a channel of this kind.'));
}

export function guildOf(client: Client, text: string): Guild {
  const guild = client.guilds.cache.get(readId(text, 'server'));
  if (guild === undefined) throw unreachableGuild();
  return guild;
}

/** Fetches the member from Discord. @throws UserError */
export async function memberOf(guild: Guild, text: string): Promise<GuildMember> {
  const member = await unlessUnreachable(guild.members.fetch({ user: readId(text, 'user'), force: true }));
  if (member === undefined) throw new UserError(t('There is no member with that id here.'));
  return member;
}

export function roleOf(guild: Guild, text: string): Role {
  const role = guild.roles.cache.get(readId(text, 'role'));
  if (role === undefined) throw new UserError(t('There is no role with that id here.'));
  return role;
}

/** Waits for a request for lists of members, which Discord refuses without the intent. @throws UserError */
export async function listingMembers<T>(listed: Promise<T>): Promise<T> {
  try {
    return await listed;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new UserError(
      t(
        'Discord does not list members for me: the "Server Members Intent" of my application has to be switched on first.',
      ),
    );
  }
}

interface Located {
  readonly id: string;
  readonly channelId: string;
  readonly author: { readonly id: string };
}

/** The sources of messages that a tool quotes: one for each channel. */
export function messageSources(client: Client, messages: readonly Located[]): readonly ToolSource[] {
  const channels = [...new Set(messages.map(({ channelId }) => channelId))];
  return channels.map((channelId) => {
    const there = messages.filter((message) => message.channelId === channelId);
    const userIds = [...new Set(there.map(({ author }) => author.id))];
    return { ...channelSource(client, channelId), messageIds: there.map(({ id }) => id), userIds };
  });
}

/** The source of a channel or thread that a tool lists. */
export function channelSource(client: Client, channelId: string): ToolSource {
  const channel: Channel | undefined = client.channels.cache.get(channelId);
  // The channel was deleted: no member can reach it.
  return channel === undefined ? { guildId: null, channelId } : placeOf(channel);
}

/** "#general", "the direct message". */
export function channelText(channel: Channel): string {
  if (channel.isDMBased()) return t('the direct message');
  return `#${plainText(visible(channel.name))}`;
}

/**
 * A channel in a sentence on a card, as a mention, because other members read the card, too: each client shows the name only to those who may see the channel.
 */
export function channelInSentence(client: Client, text: string): string {
  return named(client, text, () => readChannel(text));
}

/** The same for the channel of a message, taken from the link when the message is given as a link. */
export function messageChannelInSentence(client: Client, channel: string, message: string): string {
  return named(client, channel, () => readMessage(channel, message).channel);
}

/** A member in such a sentence: "@alice". */
export function memberInSentence(client: Client, guildId: string, userId: string): string {
  const id = idIn(userId);
  const name = client.guilds.cache.get(idIn(guildId))?.members.cache.get(id)?.displayName;
  return name === undefined ? id : `@${name}`;
}

/** A role of a guild in such a sentence. */
export function roleInSentence(client: Client, guildId: string, roleId: string): string {
  const id = idIn(roleId);
  return client.guilds.cache.get(idIn(guildId))?.roles.cache.get(id)?.name ?? id;
}

/** A role in such a sentence, of the guild that the channel is in. */
export function channelRoleInSentence(client: Client, channel: string, roleId: string): string {
  const found = client.channels.cache.get(idIn(channel));
  return found === undefined || found.isDMBased() ? idIn(roleId) : roleInSentence(client, found.guildId, roleId);
}

/** The last id in a mention or a link, or the text itself. */
function idIn(text: string): string {
  return text.match(/\d{1,20}/g)?.at(-1) ?? text;
}

function named(client: Client, text: string, read: () => ChannelReference): string {
  try {
    const { channelId } = read();
    const channel = client.channels.cache.get(channelId);
    return channel === undefined || channel.isDMBased() ? channelId : `<#${channelId}>`;
  } catch {
    return text;
  }
}
