import type { APIEmbed, APIMessageTopLevelComponent, MessageType } from 'discord-api-types/v10';
import type { LocalApplication } from './applications.js';
import type { LocalChannel } from './channels.js';
import type { LocalRole } from './guilds.js';
import type { LocalInteraction } from './interactions.js';
import type { LocalUser } from './users.js';

/** The author that a message shows: a user, or a webhook. */
export interface MessageAuthor {
  readonly id: string;
  readonly username: string;
  readonly globalName: string | null;
  /** The displayed name: the display name, or else the username. */
  readonly name: string;
  readonly avatar: string | null;
  readonly bot: boolean;
  /** The user, unless a webhook is the author. */
  readonly user: LocalUser | undefined;
}

/** The emoji of a reaction: Unicode (`id` null) or custom. */
export interface EmojiRef {
  id: string | null;
  name: string;
  animated?: boolean;
}

/** Equal for all notations of an emoji. */
export function emojiKey(emoji: EmojiRef): string {
  return emoji.id ?? emoji.name;
}

/** An emoji below a message, with its users in order. */
export interface LocalReaction {
  readonly emoji: EmojiRef;
  readonly users: Set<LocalUser>;
}

/** The mentions of a message, computed from its content and its `allowed_mentions`. */
export interface Mentions {
  everyone: boolean;
  users: LocalUser[];
  roles: LocalRole[];
}

/** The message that a message refers to. */
interface MessageReference {
  readonly messageId: string;
  readonly channelId: string;
  readonly guildId: string | undefined;
}

/** Bots that mark lines for other bots put invisible characters at the ends of the line. */
const UNSEEN_MARK = /\u2063[\u2063\u200B]{2}$/gm;

/** A message on the server. It is live: edits and reactions change it. */
export class LocalMessage {
  readonly id: string;
  readonly channel: LocalChannel;
  readonly author: MessageAuthor;
  readonly type: MessageType;
  readonly createdAt: number;
  /** The content as sent, including invisible characters; `content` is the visible text. */
  written = '';
  embeds: APIEmbed[] = [];
  components: APIMessageTopLevelComponent[] = [];
  attachments: LocalAttachment[] = [];
  mentions: Mentions = { everyone: false, users: [], roles: [] };
  flags = 0;
  tts = false;
  pinnedAt: number | undefined;
  editedAt: number | undefined;
  deleted = false;
  /** The number of versions, from 1; every edit increases it. */
  revision = 1;
  nonce: string | number | undefined;
  reference: MessageReference | undefined;
  webhook: LocalWebhook | undefined;
  /** Set on messages of webhooks, and on responses to interactions (there it is the application). */
  webhookId: string | undefined;
  /** Set on messages that an application sent through its own webhook or an interaction. */
  applicationId: string | undefined;
  interaction: LocalInteraction | undefined;
  /** The thread that was started from this message. */
  thread: LocalChannel | undefined;
  /** The only user who sees an ephemeral message. */
  visibleTo: LocalUser | undefined;
  readonly reactionsByKey = new Map<string, LocalReaction>();

  constructor(id: string, channel: LocalChannel, author: MessageAuthor, type: MessageType, createdAt: number) {
    this.id = id;
    this.channel = channel;
    this.author = author;
    this.type = type;
    this.createdAt = createdAt;
  }

  /** The visible text. */
  get content(): string {
    return this.written.includes('\u2063') ? this.written.replace(UNSEEN_MARK, '') : this.written;
  }

  get pinned(): boolean {
    return this.pinnedAt !== undefined;
  }

  get ephemeral(): boolean {
    return this.visibleTo !== undefined;
  }

  get reactions(): LocalReaction[] {
    return [...this.reactionsByKey.values()];
  }

  /** The message that this one replies to, if it still exists. */
  get replyTo(): LocalMessage | undefined {
    return this.reference && this.channel.messagesById.get(this.reference.messageId);
  }

  /** The users who reacted with that emoji (`'👍'`, or a custom emoji's name or id). */
  reactedBy(emoji: string): LocalUser[] {
    const reaction = this.reactions.find((one) => one.emoji.name === emoji || one.emoji.id === emoji);
    return reaction ? [...reaction.users] : [];
  }
}

/** An uploaded file. */
export interface UploadedFile {
  name: string;
  data: Uint8Array;
  contentType?: string | undefined;
  description?: string | undefined;
}

/** A stored file; its bytes are served from `url`. */
export interface LocalAttachment {
  readonly id: string;
  readonly filename: string;
  /** Size in bytes. */
  readonly size: number;
  readonly data: Uint8Array;
  readonly contentType: string;
  /** Valid for a day. */
  readonly url: string;
  description: string | undefined;
  readonly ephemeral: boolean;
}

const SCHEME = 'attachment://';

/** The file among `files` that an embed or component refers to: by `attachment://name`, or by its address on the CDN. */
export function attachmentAt(url: string, files: readonly LocalAttachment[]): LocalAttachment | undefined {
  if (!url.startsWith(SCHEME)) return files.find((file) => unsigned(file.url) === unsigned(url));
  const name = url.slice(SCHEME.length);
  return files.find(({ filename }) => filename === name);
}

const unsigned = (url: string) => url.split('?', 1)[0];

/** An incoming webhook. */
export interface LocalWebhook {
  readonly id: string;
  readonly token: string;
  readonly creator: LocalUser;
  readonly application: LocalApplication | undefined;
  channel: LocalChannel;
  name: string;
  avatar: string | null;
}
