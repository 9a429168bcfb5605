import { isForPeopleOnly, isNotice, withoutNoticeLines } from '@cinnabar/sdk';
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
  /** Set on what a bot says about itself (a receipt, the answer to a command), which is not shown. */
  readonly notice?: true;
  /** Set on a dot message, which is said past the bots and not shown. */
  readonly aside?: true;
  /** What it passes on from elsewhere. */
  readonly forwarded?: string;
  /** Set on what Discord itself says: `ChannelPinnedMessage`. */
  readonly system?: string;
  /** The message in the same channel that it answers. */
  readonly replyTo?: string;
  /** The thread that was started from it. */
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

/** Which message something was done to. */
export interface MessageAt {
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
  // An application's answer to a command carries its id as a webhook's, too.
  if (webhookId !== null && webhookId !== applicationId) return 'webhook';
  return author.bot ? 'bot' : 'user';
}
