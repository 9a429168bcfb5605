import { isWebhookMessage, participantNames, sanitizeName, speakerId } from '@cinnabar/sdk';
import type { Channel, GuildMember, Message, User } from 'discord.js';
import type { AuthorFacts, EventFacts } from './event.js';

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

function channelFacts(channel: Channel): EventFacts['channel'] {
  const type = channel.isDMBased() ? 'dm' : channel.isThread() ? 'thread' : channel.isVoiceBased() ? 'voice' : 'text';
  const name = 'name' in channel && channel.name !== null ? nameOr(channel.name, '', channel.id) : 'direct message';
  return { id: channel.id, name, type };
}

/**
 * Names for the speakers of messages that are shown together, by `speakerId`: readable, and no two the same. Agents that share a webhook have
 * each their own. The bot's own name is kept for the bot.
 */
export function namesOf(messages: readonly Message[]): ReadonlyMap<string, string> {
  const [first] = messages;
  const me = first?.client.user;
  const own = me && nameOr(first?.guild?.members.me?.displayName ?? me.displayName, me.username, me.id);
  const bySpeaker = new Map(messages.map((message) => [speakerId(message), message]));
  const others = [...bySpeaker].flatMap(([speaker, message], index) =>
    speaker === me?.id ? [] : named(speaker, message, index),
  );
  const names = participantNames(others, own === undefined ? [] : [own, 'System']);
  const shown = new Map(others.map(({ speaker, id }) => [speaker, names.get(id) ?? id]));
  if (me !== undefined && own !== undefined) shown.set(me.id, own);
  return shown;
}

/** The id is shown where names are the same. */
function named(speaker: string, message: Message, index: number) {
  const { author, member } = message;
  return {
    speaker,
    id: isWebhookMessage(message) ? `${author.id}-${index + 1}` : author.id,
    username: nameOr(author.username, '', author.id),
    displayName: nameOr(member?.displayName ?? author.displayName, author.username, author.id),
  };
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

/** Beside what a transcript is made of: what Markdown and the prompt's own lines are made of. */
const MARKUP = /[*_#~()=]+/gu;
const LEADING = /^[\s\-+.,;!>]+/u;

/** A name that cannot pass for a part of the prompt: one line, without what headings, labels, lists and ids are written with. */
export function safeName(name: string): string {
  return sanitizeName(sanitizeName(name).replace(MARKUP, ' ')).replace(LEADING, '');
}

/** The first of the two in which something readable is left; else the id. */
export function nameOr(name: string, other: string, id: string): string {
  return safeName(name) || safeName(other) || id;
}
