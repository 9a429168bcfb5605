import { plainText, t, visible } from '@cinnabar/sdk';
import type { Channel, Client } from 'discord.js';
import { type ChannelReference, readChannel, readMessage } from './arguments.js';

/** "#general", "the direct message". */
export function channelText(channel: Channel): string {
  if (channel.isDMBased()) return t('the direct message');
  return `#${plainText(visible(channel.name))}`;
}

/** A channel in a sentence on a card, as a mention: other members read the card, too, and each client shows the name to those who may see it. */
export function channelInSentence(client: Client, text: string): string {
  return named(client, text, () => readChannel(text));
}

/** The same for the channel of a message, which is the link's where the message is given as a link. */
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
