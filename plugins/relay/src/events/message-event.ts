import {
  type Clock,
  inNote,
  isDotMessage,
  isForPeopleOnly,
  isUnknown,
  isWebhookMessage,
  type Logger,
  participantNames,
  sanitizeName,
  speakerId,
  type Turn,
  withoutNotes,
} from '@cinnabar/sdk';
import {
  type Channel,
  type Client,
  type GuildMember,
  type Message,
  MessageReferenceType,
  PermissionFlagsBits,
  type User,
} from 'discord.js';
import type { AuthorFacts, ChainLink, EventFacts, EventKind, RelayEvent } from './event.js';

interface MessageEventOptions {
  readonly kind: EventKind;
  readonly agent: string;
  /** Number of messages of the reply chain to read. */
  readonly depth: number;
  /** For a command: the text after the command. */
  readonly said?: string;
  readonly log: Logger;
}

/** All events of a message have the same id, so that it is accepted once, however it was recognised. */
const MESSAGE = 'message:';
const COMMAND = 'command:';

/** The event of a message. */
export async function messageEvent(message: Message, options: MessageEventOptions): Promise<RelayEvent> {
  const chain = await readReplyChain(message, options.depth, options.log);
  const names = namesOf([...chain, message]);
  return {
    id: `${options.said === undefined ? MESSAGE : COMMAND}${message.id}`,
    kind: options.kind,
    agent: options.agent,
    guildId: message.guildId,
    channelId: message.channelId,
    userId: message.author.id,
    facts: {
      at: message.createdTimestamp,
      author: authorFacts(message.author, message.member, names.get(speakerId(message))),
      ...placeFacts(message.channel, message.guild),
      messageId: message.id,
      content: withoutNotes(options.said ?? message.content),
      chain: chain.map((link) => linkOf(link, names)),
      attachments: attachmentFacts(message),
    },
  };
}

/** Whether the message is a command: then it contains more than the event's text. */
function isCommand({ id }: RelayEvent): boolean {
  return id.startsWith(COMMAND);
}

export function linkOf(message: Message, names: ReadonlyMap<string, string>): ChainLink {
  return {
    messageId: message.id,
    authorId: message.author.id,
    author: names.get(speakerId(message)) ?? message.author.id,
    content: contentOf(message),
    timestamp: message.createdAt.toISOString(),
    isBot: message.author.bot,
  };
}

/** The text of the message; without text, a description of its content. */
function contentOf({ content, attachments, embeds, stickers }: Message): string {
  if (content !== '') return withoutNotes(content);
  const shown = [
    ...[...attachments.values()].map(({ name }) => `[file: ${inNote(name)}]`),
    ...embeds.map(({ title, description }) => `[embed: ${inNote(title ?? description ?? 'without text')}]`),
    ...[...stickers.values()].map(({ name }) => `[sticker: ${inNote(name)}]`),
  ];
  return shown.join(' ');
}

interface TurnEventOptions {
  readonly agent: string;
  /** Whether it is the first message in a thread that the bot has started. */
  readonly opensThread: boolean;
  /** Number of messages of the reply chain to read. */
  readonly depth: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The event of a turn; a slash command has no message to reply to. */
export async function turnEvent(
  turn: Turn,
  { agent, opensThread, depth, clock, log }: TurnEventOptions,
): Promise<RelayEvent> {
  const { message, trigger, actor, user, member, channel, guild, text } = turn;
  const kind = opensThread ? 'thread' : kindOfTurn(turn);
  if (message !== null) {
    return messageEvent(message, { kind, agent, depth, log, ...(trigger === 'command' ? { said: text } : {}) });
  }
  return {
    id: `turn:${turn.id}`,
    kind,
    agent,
    guildId: actor.guildId,
    channelId: channel.id,
    userId: user.id,
    facts: {
      at: clock.now(),
      author: authorFacts(user, member),
      ...placeFacts(channel, guild),
      messageId: null,
      content: withoutNotes(text),
      chain: [],
      attachments: [],
    },
  };
}

/** The kind of a turn's event. The trigger `random` comes from the relay's own listeners in channels whose mode is `always`. */
function kindOfTurn({ trigger, actor }: Turn): EventKind {
  if (actor.guildId === null) return 'dm';
  if (trigger === 'reply') return 'reply';
  return trigger === 'random' ? 'message' : 'mention';
}

/**
 * The messages of a reply chain, upwards from a message, at most `depth`. If one cannot be read (it was deleted, or Discord does not answer), the chain starts
 * after it, and this is logged. Messages that no model may read are omitted: notices of bots, dot messages.
 */
async function readReplyChain(message: Message, depth: number, log: Logger): Promise<readonly Message[]> {
  const chain: Message[] = [];
  const seen = new Set([message.id]);
  let current = message;
  while (seen.size <= depth) {
    const parentId = parentOf(current);
    if (parentId === undefined || seen.has(parentId)) break;
    seen.add(parentId);
    const parent = await read(current, parentId, log);
    if (parent === undefined) break;
    if (!isForPeopleOnly(parent)) chain.unshift(parent);
    current = parent;
  }
  return chain;
}

/** The id of the message in the same channel that it replies to. A forwarded message has a reference, too, but is not a reply. */
function parentOf({ reference, channelId }: Message): string | undefined {
  if (reference === null || reference.type === MessageReferenceType.Forward) return undefined;
  if (reference.channelId !== channelId) return undefined;
  return reference.messageId;
}

async function read(reply: Message, parentId: string, log: Logger): Promise<Message | undefined> {
  const { channel, channelId } = reply;
  const known = channel.messages.cache.get(parentId);
  if (known !== undefined) return known;
  if (!mayReadHistory(reply)) {
    log.info('the reply chain is cut: the bot may not read the history of the channel', {
      channelId,
      messageId: reply.id,
    });
    return undefined;
  }
  try {
    return await channel.messages.fetch(parentId);
  } catch (error) {
    log.info('the reply chain is cut: a message cannot be read', { channelId, messageId: parentId, error });
    return undefined;
  }
}

function mayReadHistory({ channel }: Message): boolean {
  if (channel.isDMBased()) return true;
  const me = channel.guild.members.me;
  return me === null || channel.permissionsFor(me).has(PermissionFlagsBits.ReadMessageHistory);
}

/**
 * The event with the message's current text; `undefined` when the message was deleted, or edited into a dot message, while it was queued. Called at the
 * delivery, so that it also covers the time of a restart. When the message cannot be read, the event stays as it was.
 */
export async function currentEvent(event: RelayEvent, client: Client, log: Logger): Promise<RelayEvent | undefined> {
  const { messageId } = event.facts;
  if (messageId === null || event.kind === 'reaction') return event;
  const message = await lookUp(event.channelId, messageId, client, log);
  if (message === 'deleted') return undefined;
  return message === undefined ? event : edited(event, message);
}

async function lookUp(
  channelId: string,
  messageId: string,
  client: Client,
  log: Logger,
): Promise<Message | 'deleted' | undefined> {
  try {
    const channel = await client.channels.fetch(channelId);
    return channel?.isTextBased() === true ? await channel.messages.fetch(messageId) : undefined;
  } catch (error) {
    if (isUnknown(error)) return 'deleted';
    log.info('a message that waited for an agent could not be looked up', { channelId, messageId, error });
    return undefined;
  }
}

function edited(event: RelayEvent, message: Message): RelayEvent | undefined {
  // The text of a command stays as it was when the command ran.
  if (message.editedTimestamp === null || isCommand(event)) return event;
  if (isDotMessage(message.content)) return undefined;
  return {
    ...event,
    facts: { ...event.facts, content: withoutNotes(message.content), attachments: attachmentFacts(message) },
  };
}

/** A person as the prompt shows them. @param name from `namesOf`, if the prompt shows several people, whose names must differ */
export function authorFacts(user: User, member: GuildMember | null, name?: string): AuthorFacts {
  return {
    id: user.id,
    username: user.username,
    displayName: name ?? nameOr(member?.displayName ?? user.displayName, user.username, user.id),
    roles: rolesOf(member),
    isBot: user.bot,
  };
}

/** Commas in names of roles would look like separators of the list. */
const COMMA = /[,，﹐︐、]/gu;

/** Names of the roles, highest first; without `@everyone`. */
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
 * Unique, readable names for the speakers of messages that are shown together, by `speakerId`. Agents that share a webhook have different names. No speaker
 * gets the bot's name.
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

/** Adds the id where names are the same. */
function named(speaker: string, message: Message, index: number) {
  const { author, member } = message;
  return {
    speaker,
    id: isWebhookMessage(message) ? `${author.id}-${index + 1}` : author.id,
    username: nameOr(author.username, '', author.id),
    displayName: nameOr(member?.displayName ?? author.displayName, author.username, author.id),
  };
}

function attachmentFacts(message: Message): EventFacts['attachments'] {
  return [...message.attachments.values()].map(({ name, url, contentType }) => ({ name, url, contentType }));
}

/** The guild and channel of an event. */
export function placeFacts(channel: Channel, guild: { readonly id: string; readonly name: string } | null) {
  return {
    channel: channelFacts(channel),
    guild: guild === null ? null : { id: guild.id, name: nameOr(guild.name, '', guild.id) },
  };
}

/** Characters of Markdown and of the prompt's own lines, in addition to those of transcripts. */
const MARKUP = /[*_#~()=]+/gu;
const LEADING = /^[\s\-+.,;!>]+/u;

/** A name that cannot look like a part of the prompt: one line, without characters of headings, labels, lists and ids. */
export function safeName(name: string): string {
  return sanitizeName(sanitizeName(name).replace(MARKUP, ' ')).replace(LEADING, '');
}

/** The first of the two names that has a readable character, otherwise the id. */
export function nameOr(name: string, other: string, id: string): string {
  return safeName(name) || safeName(other) || id;
}
