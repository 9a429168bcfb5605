import { isForPeopleOnly, isNotice, nameText, t, withoutNoticeLines } from '@cinnabar/sdk';
import { type Message, MessageType } from 'discord.js';

/** A message as tools return it. */
export interface MessageView {
  readonly id: string;
  readonly channelId: string;
  readonly author: { readonly id: string; readonly name: string; readonly kind: 'user' | 'bot' | 'webhook' };
  /** ISO 8601. */
  readonly createdAt: string;
  readonly editedAt?: string;
  readonly content: string;
  /** Set for a bot's notice (a receipt, the answer to a command), whose text is not shown. */
  readonly notice?: true;
  /** Set for a dot message, which is for people only: its text is not shown. */
  readonly aside?: true;
  /** The text of a forwarded message. */
  readonly forwarded?: string;
  /** The type of a system message of Discord: `ChannelPinnedMessage`. */
  readonly system?: string;
  /** The message in the same channel that it replies to. */
  readonly replyTo?: string;
  /** The thread that was started from the message. */
  readonly threadId?: string;
  readonly pinned: boolean;
  readonly attachments: readonly {
    readonly name: string;
    readonly bytes: number;
    readonly type: string | null;
    readonly url: string;
  }[];
  readonly embeds: readonly {
    readonly title: string | null;
    readonly description: string | null;
    readonly url: string | null;
    readonly fields: readonly { readonly name: string; readonly value: string }[];
  }[];
  readonly reactions: readonly { readonly emoji: string; readonly count: number }[];
}

/** The message that a tool changed. */
interface MessageAt {
  readonly channelId: string;
  readonly messageId: string;
}

export function messageAt({ channelId, id }: Pick<Message, 'channelId' | 'id'>): MessageAt {
  return { channelId, messageId: id };
}

const SAID: ReadonlySet<MessageType> = new Set([
  MessageType.Default,
  MessageType.Reply,
  MessageType.ChatInputCommand,
  MessageType.ContextMenuCommand,
  MessageType.ThreadStarterMessage,
]);

export function viewMessage(message: Message): MessageView {
  const { reference } = message;
  const hidden = isForPeopleOnly(message);
  const notice = isNotice(message);
  const forwarded = message.messageSnapshots.first()?.content;
  const isAnswer = forwarded === undefined && reference?.channelId === message.channelId;
  return {
    id: message.id,
    channelId: message.channelId,
    author: {
      id: message.author.id,
      name: message.member?.displayName ?? message.author.displayName,
      kind: kindOf(message),
    },
    createdAt: message.createdAt.toISOString(),
    ...(message.editedAt === null ? {} : { editedAt: message.editedAt.toISOString() }),
    content: hidden ? '' : withoutNoticeLines(message.content),
    ...(notice ? { notice: true as const } : hidden ? { aside: true as const } : {}),
    ...(forwarded === undefined ? {} : { forwarded }),
    ...(SAID.has(message.type) ? {} : { system: MessageType[message.type] }),
    ...(isAnswer && reference.messageId !== undefined ? { replyTo: reference.messageId } : {}),
    ...(message.hasThread ? { threadId: message.id } : {}),
    pinned: message.pinned,
    attachments: (hidden ? [] : [...message.attachments.values()]).map(({ name, size, contentType, url }) => ({
      name,
      bytes: size,
      type: contentType,
      url,
    })),
    embeds: (hidden ? [] : message.embeds).map(({ title, description, url, fields }) => ({
      title,
      description,
      url,
      fields: fields.map(({ name, value }) => ({ name, value })),
    })),
    reactions: message.reactions.cache.map(({ emoji, count }) => ({ emoji: emoji.toString(), count })),
  };
}

function kindOf({ webhookId, author, applicationId }: Message): MessageView['author']['kind'] {
  // The answer of an application to a command has the application's id as its webhook id.
  if (webhookId !== null && webhookId !== applicationId) return 'webhook';
  return author.bot ? 'bot' : 'user';
}

/**
 * Messages as text for people and models. Every line written by a member starts with `> `, so that it cannot imitate a line of the result, such as the heading
 * of another message.
 */
export function messagesText(messages: readonly MessageView[]): string {
  return messages.map(messageText).join('\n\n');
}

/** Maximum length of the heading and the note of a result. */
const HEADING_LENGTH = 600;

/** As many consecutive messages as fit in a result of `most` characters, from the end or from the beginning of the list; at least one. */
export function fitting(
  messages: readonly MessageView[],
  most: number,
  from: 'end' | 'beginning',
): readonly MessageView[] {
  const ordered = from === 'end' ? [...messages].reverse() : messages;
  let left = most - HEADING_LENGTH;
  let count = 0;
  for (const message of ordered) {
    left -= messageText(message).length + 2;
    if (left < 0 && count > 0) break;
    count += 1;
  }
  return from === 'end' ? messages.slice(messages.length - count) : messages.slice(0, count);
}

export function messageText(message: MessageView): string {
  const lines = [heading(message)];
  if (message.content !== '') lines.push(quoted(message.content));
  if (message.forwarded !== undefined) lines.push(t('forwarded:'), quoted(message.forwarded));
  for (const { name, bytes, type, url } of message.attachments) {
    lines.push(
      t('attachment {name} · {type} · {size} · {url}', {
        name: nameText(name),
        type: typeText(type),
        size: sizeText(bytes),
        url,
      }),
    );
  }
  for (const embed of message.embeds) lines.push(t('embed:'), quoted(embedText(embed)));
  if (message.reactions.length > 0) {
    lines.push(
      t('reactions {list}', { list: message.reactions.map(({ emoji, count }) => `${emoji} ${count}`).join(', ') }),
    );
  }
  return lines.join('\n');
}

function heading(message: MessageView): string {
  const { author } = message;
  const facts = [
    t('{name} ({kind, select, bot {bot} webhook {webhook} other {user}} {id})', {
      name: nameText(author.name),
      kind: author.kind,
      id: author.id,
    }),
    t('message {messageId}', { messageId: message.id }),
    message.createdAt,
    ...(message.editedAt === undefined ? [] : [t('edited')]),
    ...(message.replyTo === undefined ? [] : [t('reply to {replyTo}', { replyTo: message.replyTo })]),
    ...(message.threadId === undefined ? [] : [t('thread {threadId}', { threadId: message.threadId })]),
    ...(message.notice === true ? [t('a notice of the bot about itself, not shown')] : []),
    ...(message.aside === true ? [t('not meant for bots, not shown')] : []),
    ...(message.pinned ? [t('pinned')] : []),
    ...(message.system === undefined ? [] : [message.system]),
  ];
  return facts.join(' · ');
}

/** All characters that may be displayed as a line break. */
const LINE_END = /\r\n|[\n\r\v\f\x85\u2028\u2029]/g;

export function quoted(text: string): string {
  return text
    .split(LINE_END)
    .map((line) => `> ${line}`)
    .join('\n');
}

function embedText({ title, description, url, fields }: MessageView['embeds'][number]): string {
  const parts = [title, url, description, ...fields.map(({ name, value }) => `${name}: ${value}`)];
  return parts.filter((part) => part !== null && part !== '').join('\n');
}

/** The type of an attachment. The sender's application can set it to any text. */
function typeText(type: string | null): string {
  return type?.match(/^[\w.+-]+\/[\w.+-]+/)?.[0] ?? t('unknown type');
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
