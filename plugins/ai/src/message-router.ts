import {
  answerMessages,
  asNotice,
  defined,
  type FrontDoor,
  isDotMessage,
  mayRefer,
  noticeMessages,
  type Reply,
  repliesToOwn,
  sendOnce,
  type TextLimits,
  type Turn,
} from '@cinnabar/sdk';
import {
  type Channel,
  type Message,
  type MessageReplyOptions,
  MessageType,
  PermissionFlagsBits,
  type SendableChannels,
} from 'discord.js';
import type { AiContext, AiSettings, Limits } from './context.js';
import type { Arrival, DeletedMessages, Take } from './intake.js';

/**
 * Routes messages to the intake: those that address the bot, and those that responders hand in (`FrontDoor`). Messages that another part of
 * the bot waits for, such as the answer to its question, are excluded.
 */
export function createMessageRouter(context: AiContext, take: Take, deletedMessages: DeletedMessages) {
  const { settings, client, services, log } = context;
  const exclusions = new Set<(message: Message) => boolean>();
  const isExcluded = (message: Message) => [...exclusions].some((isTheirs) => isTheirs(message));
  const routeIn = (guildId: string | null, channelId: string) => {
    const channel = client.channels.cache.get(channelId);
    return channel === undefined ? responderIn(settings, guildId, [channelId]) : routeOf(settings, channel, guildId);
  };
  const arrival = (message: Message, trigger: Turn['trigger'], botId: string | undefined) => {
    const arrived = botId === undefined ? undefined : arrivalOf(context, message, trigger, botId);
    if (arrived === undefined)
      log.debug('not answered: the bot may not write there', { channelId: message.channelId, trigger });
    return arrived;
  };

  const frontDoor: FrontDoor = {
    claim(isMine) {
      exclusions.add(isMine);
      return () => void exclusions.delete(isMine);
    },
    stop: deletedMessages.stop,
    isAnswering: deletedMessages.isAnswering,
    responderIn: async (guildId, channelId) => (await routeIn(guildId, channelId)).responder,
    async take(message, { trigger, responder, text }) {
      if (isExcluded(message)) return false;
      if ((await routeIn(message.guildId, message.channelId)).responder !== responder) return false;
      const arrived = arrival(message, trigger, client.user?.id);
      return arrived === undefined ? false : take({ ...arrived, ...defined({ text }) });
    },
  };

  return {
    frontDoor,
    /** For every message: takes it when it addresses the bot. */
    route(message: Message): Promise<boolean> | undefined {
      const botId = client.user?.id;
      const trigger = triggerOf(message, botId);
      if (trigger === undefined || services.commands.matches(message) || isExcluded(message)) return undefined;
      const arrived = arrival(message, trigger, botId);
      return arrived === undefined ? undefined : take(arrived);
    },
  };
}

/**
 * Why a message is for the bot, or `undefined` when it is not. Runs for every message, so the common case is decided by a few field reads.
 * Bots and webhooks never count, nor do mentions of a role or of everyone, nor dot messages.
 */
function triggerOf(message: Message, botId: string | undefined): Turn['trigger'] | undefined {
  const { author, mentions } = message;
  if (message.guildId !== null && mentions.users.size === 0 && message.reference === null) return undefined;
  if (author.bot || message.webhookId !== null || botId === undefined) return undefined;
  if (message.type !== MessageType.Default && message.type !== MessageType.Reply) return undefined;
  if (isDotMessage(message.content)) return undefined;
  if (message.guildId === null) return 'dm';
  if (repliesToOwn(message)) return 'reply';
  return mentions.users.has(botId) ? 'mention' : undefined;
}

/** The text without the mention that addresses the bot: the first one, with the comma or colon behind it. */
export function withoutMention(content: string, botId: string): string {
  const mention = new RegExp(`^\\s*<@!?${botId}>\\s*[,:;]?|<@!?${botId}>\\s*$`);
  return content.replace(mention, '').trim();
}

/** The turn of a message; `undefined` where the bot may not answer it. */
function arrivalOf(context: AiContext, message: Message, trigger: Turn['trigger'], botId: string): Arrival | undefined {
  const { channel, author: user, member, guild } = message;
  if (!channel.isSendable() || !maySend(channel)) return undefined;
  return {
    trigger,
    text: withoutMention(message.content, botId),
    actor: { userId: user.id, guildId: message.guildId, channelId: channel.id },
    user,
    member,
    guild,
    channel,
    message,
    signal: context.signal,
    reply: replyTo(context, message, channel),
  };
}

function maySend(channel: SendableChannels): boolean {
  if (channel.isDMBased()) return true;
  const needed = channel.isThread() ? PermissionFlagsBits.SendMessagesInThreads : PermissionFlagsBits.SendMessages;
  const me = channel.guild.members.me;
  return me === null || channel.permissionsFor(me).has(PermissionFlagsBits.ViewChannel | needed);
}

/**
 * Answers a message: the first part as a reply to it, the rest below, files and embeds on the last. Only its author can be pinged.
 * Resolves with the last message sent.
 */
function replyTo(
  { settings, services: { clock, random }, signal }: AiContext,
  message: Message,
  channel: SendableChannels,
): (reply: Reply) => Promise<Message> {
  const allowedMentions = { parse: [], users: [message.author.id], repliedUser: true };
  let replied = !mayRefer(channel);
  const send = (options: Omit<MessageReplyOptions, 'failIfNotExists'>): Promise<Message> => {
    // The answer is sent even when the question has been deleted meanwhile.
    const reply = replied ? {} : { reply: { messageReference: message.id, failIfNotExists: false } };
    replied = true;
    return sendOnce(channel, { ...options, ...reply, allowedMentions }, random.id(), { clock, signal });
  };
  return async (reply) => {
    const body = typeof reply === 'string' ? { content: reply } : reply;
    const split = body.notice === true ? noticeMessages : answerMessages;
    const parts = split(body.content ?? '', { limits: answerLimitsIn(await settings.guild(message.guildId).get()) });
    for (const { content } of parts.slice(0, -1)) await send({ content });
    const { content = body.notice === true ? asNotice('') : '', files = [] } = parts.at(-1) ?? {};
    const { embeds, components, files: attached } = body;
    const all = [...files, ...(attached ?? [])];
    return send({ ...defined({ embeds, components }), content, ...(all.length === 0 ? {} : { files: all }) });
  };
}

/** How long an answer may be before it becomes a file. */
export function answerLimitsIn({ answerMessages, answerCharacters }: Limits): TextLimits {
  return { messages: answerMessages, characters: answerCharacters };
}

export interface Route {
  readonly responder: string;
  /** The setting that chose it. */
  readonly chosen: 'channel' | 'guild' | 'user' | 'default';
}

/** The responder that answers in a channel. A thread follows its parent unless it has its own; in a direct message the user chooses. */
export function routeOf(settings: AiSettings, channel: Channel, guildId: string | null): Promise<Route> {
  if (channel.isDMBased()) return directResponder(settings, 'recipientId' in channel ? channel.recipientId : null);
  const parents = channel.isThread() && channel.parentId !== null ? [channel.parentId] : [];
  return responderIn(settings, guildId, [channel.id, ...parents]);
}

async function directResponder(settings: AiSettings, userId: string | null): Promise<Route> {
  const chosen = userId === null ? undefined : (await settings.user(userId).get()).directResponder;
  if (chosen !== undefined) return { responder: chosen, chosen: 'user' };
  return { responder: (await settings.global.get()).defaultResponder, chosen: 'default' };
}

/** @param channelIds the channel, then the one that it follows */
async function responderIn(
  settings: AiSettings,
  guildId: string | null,
  channelIds: readonly string[],
): Promise<Route> {
  for (const id of channelIds) {
    const { channelResponder } = await settings.channel(id).get();
    if (channelResponder !== undefined) return { responder: channelResponder, chosen: 'channel' };
  }
  const responder = guildId === null ? undefined : (await settings.guild(guildId).get()).responder;
  if (responder !== undefined) return { responder, chosen: 'guild' };
  return { responder: (await settings.global.get()).defaultResponder, chosen: 'default' };
}
