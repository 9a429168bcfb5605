import { participantNames } from '@cinnabar/sdk';
import type { Channel, GuildMember, Message, User } from 'discord.js';
import type { AuthorFacts, EventFacts } from '../types.js';
import { nameOr } from './names.js';

/** A person as the prompt shows them. @param name of `namesOf`, where several are shown: no two are the same */
export function authorFacts(user: User, member: GuildMember | null, name?: string): AuthorFacts {
  return {
    id: user.id,
    username: user.username,
    displayName: name ?? nameOr(member?.displayName ?? user.displayName, user.username, user.id),
    roles: rolesOf(member),
    isBot: user.bot,
  };
}

/** Roles are listed with them between. */
const COMMA = /[,，﹐︐、]/gu;

/** Highest first; the role that everyone has says nothing. */
function rolesOf(member: GuildMember | null): readonly string[] {
  if (member === null) return [];
  return [...member.roles.cache.values()]
    .filter(({ id }) => id !== member.guild.id)
    .sort((a, b) => b.position - a.position)
    .map(({ name, id }) => nameOr(name.replaceAll(COMMA, ' '), '', id));
}

export function channelFacts(channel: Channel): EventFacts['channel'] {
  const type = channel.isDMBased() ? 'dm' : channel.isThread() ? 'thread' : channel.isVoiceBased() ? 'voice' : 'text';
  const name = 'name' in channel && channel.name !== null ? nameOr(channel.name, '', channel.id) : 'direct message';
  return { id: channel.id, name, type };
}

/** Names for the authors of messages that are shown together: readable, and no two the same. The bot's own is kept for the bot. */
export function namesOf(messages: readonly Message[]): ReadonlyMap<string, string> {
  const people = messages.map(({ author, member }) => ({
    id: author.id,
    username: nameOr(author.username, '', author.id),
    displayName: nameOr(member?.displayName ?? author.displayName, author.username, author.id),
  }));
  const [first] = messages;
  const me = first?.client.user;
  const others = people.filter(({ id }) => id !== me?.id);
  const own =
    me === undefined || me === null
      ? []
      : [nameOr(first?.guild?.members.me?.displayName ?? me.displayName, me.username, me.id)];
  const names = new Map(participantNames(others, [...own, 'System']));
  if (me !== undefined && me !== null && own[0] !== undefined) names.set(me.id, own[0]);
  return names;
}

export function attachmentFacts(message: Message): EventFacts['attachments'] {
  return [...message.attachments.values()].map(({ name, url, contentType }) => ({ name, url, contentType }));
}

/** The time, the place and the files of an event; who and what was said comes from its kind. */
export function placeFacts(channel: Channel, guild: { readonly id: string; readonly name: string } | null) {
  return {
    channel: channelFacts(channel),
    guild: guild === null ? null : { id: guild.id, name: nameOr(guild.name, '', guild.id) },
  };
}
