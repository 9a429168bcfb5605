import {
  type Actor,
  type ChannelContexts,
  type ContextLine,
  findSendable,
  isForPeopleOnly,
  sanitizeName,
  type TaskRequest,
  withoutNoticeLines,
} from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import type { TaskContext } from '../context.js';
import type { Background } from '../task.js';
import { textOf } from './incoming-messages.js';

/** Number of messages before the request, so that the model understands what "that" refers to; the task can read more with its tools. */
const MESSAGES = 30;
/** Maximum number of characters of a message. */
const LONGEST_LINE = 1_500;

/** The latest messages of a conversation before a message, as far as the chat would read them for this member. */
export function conversationBefore(
  contexts: ChannelContexts | undefined,
  actor: Actor,
  before: string | undefined,
  signal?: AbortSignal,
): Promise<{ readonly lines: readonly ContextLine[]; readonly instructions: string | undefined }> {
  const none = { lines: [], instructions: undefined };
  return (
    contexts?.read(actor, { limit: MESSAGES, before, ...(signal === undefined ? {} : { signal }) }) ??
    Promise.resolve(none)
  );
}

/** The conversation in which the task was requested, as far as its member may read it. Empty if it cannot be read. */
export async function backgroundOf(
  context: TaskContext,
  { actor, messageId }: Pick<TaskRequest, 'actor' | 'messageId'>,
): Promise<Background> {
  const [conversation, asked] = await Promise.all([
    conversationBefore(context.contexts, actor, messageId).catch((error: unknown) => {
      context.log.warn('the conversation before a task could not be read', { channelId: actor.channelId, error });
      return { lines: [], instructions: undefined };
    }),
    requestLines(context, actor, messageId).catch((error: unknown) => {
      context.log.warn('the message that asked for a task could not be read', { messageId, error });
      return [];
    }),
  ]);
  const { lines, instructions } = conversation;
  const known = lines.map(({ speaker, text, source }) => ({ speaker, text: cut(text), sources: [source] }));
  return { ...(instructions === undefined ? {} : { instructions }), lines: [...known, ...asked] };
}

/** Lines for the message that was replied to, and for the attachments of both messages. */
async function requestLines(
  { client, access }: TaskContext,
  actor: Actor,
  messageId: string | undefined,
): Promise<Background['lines']> {
  const channel = messageId === undefined ? undefined : await findSendable(client, actor.channelId);
  if (channel === undefined || messageId === undefined) return [];
  const message = await channel.messages.fetch(messageId);
  const lines: Background['lines'] = [];
  const referred = message.reference?.messageId;
  if (referred !== undefined && message.reference?.channelId === channel.id) {
    const mayRead = actor.guildId === null || (await access.mayEnter(actor, actor, ['ReadMessageHistory']));
    const replied = mayRead ? await channel.messages.fetch(referred).catch(() => undefined) : undefined;
    if (replied !== undefined && !isForPeopleOnly(replied))
      lines.push(lineOf(replied, 'the task was asked for in reply to this', withoutNoticeLines(replied.content)));
  }
  if (message.attachments.size > 0) lines.push(lineOf(message, 'attached to the task', ''));
  return lines;
}

function lineOf(message: Message, what: string, content: string): Background['lines'][number] {
  const { author, member, guildId, channelId, id } = message;
  const name = sanitizeName(member?.displayName ?? author.displayName) || `member ${author.id}`;
  const text = cut(textOf({ content, attachments: message.attachments }));
  const sources = [{ guildId, channelId, messageIds: [id], userIds: author.bot ? [] : [author.id] }];
  return { speaker: `${name} (${what})`, text, sources };
}

const cut = (text: string) => (text.length <= LONGEST_LINE ? text : `${text.slice(0, LONGEST_LINE)}…`);
