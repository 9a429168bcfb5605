import type { Actor, TextFile } from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';

export interface HistoryAuthor {
  readonly id: string;
  /** Unique for the speaker: a user's id, or webhook id and name. */
  readonly speaker: string;
  readonly displayName: string;
  readonly username: string;
  readonly bot: boolean;
  /** Whether it is this bot, also under another name through its webhook. */
  readonly self: boolean;
  /** Sent through a webhook of this bot as shown tool output. */
  readonly ownWebhook?: true;
}

/** A message as contexts use it, independent of discord.js. Immutable: an edit creates a new one. */
export interface HistoryMessage {
  readonly id: string;
  readonly channelId: string;
  readonly author: HistoryAuthor;
  /** The original text, with mentions as `<@id>`. Empty for system messages. */
  readonly content: string;
  readonly createdAt: number;
  readonly editedAt: number | null;
  readonly replyTo: { readonly messageId: string; readonly speaker: string | null } | null;
  /** Including those of a forwarded message. */
  readonly attachments: readonly HistoryAttachment[];
  /** Embeds, polls, stickers, forwarded text and system events: one line each, in square brackets. */
  readonly extras: readonly string[];
  /** Names of the emoji with which users other than this bot have reacted. */
  readonly reactions: readonly string[];
  /**
   * The bot's own message with controls: buttons, or its own 👍 and 👎; also a card of another bot of this program. A model that reads cards would imitate
   * them.
   */
  readonly card?: true;
}

export interface HistoryAttachment {
  readonly url: string;
  readonly name: string;
  readonly contentType: string | null;
  readonly sizeBytes: number;
}

/** A range of history for a context, oldest first; ids increase throughout, also across channels. */
export interface HistoryWindow {
  readonly messages: readonly HistoryMessage[];
  /** Whether nothing older exists or may be read. */
  readonly whole: boolean;
  /** The number of REST requests; 0 when everything was cached. */
  readonly restCalls: number;
  /** Parts that could not be included, as sentences for the log and `!why`: refused `.history`, unreadable channels. */
  readonly notes: readonly string[];
}

export interface WindowOptions {
  readonly limit: number;
  readonly from?: string;
  /** All members who are answered. Messages that one of them may not read are left out. */
  readonly readers: readonly Actor[];
  /** Ids or names of roles that may use `.history`, in addition to members who may manage messages. */
  readonly historyRoles: readonly string[];
  /** The maximum delay between retries; 32,000 by default. */
  readonly backoffMaxMs?: number;
  readonly signal?: AbortSignal;
}

export interface PinnedConfig {
  readonly messageId: string;
  readonly yaml: string;
}

export interface ChannelHistory {
  /**
   * At least the last `limit` messages if there are that many; everything from the message id `from` on if that is further back, at most 1,000 more. Follows
   * `.history` commands of authorised members, includes the history of a thread's parent, and reads only what every reader and the bot may read. Rejects with
   * discord.js's error when Discord does not answer.
   */
  window(channel: SendableChannels, options: WindowOptions): Promise<HistoryWindow>;
  /**
   * Texts of pinned `.config` messages for this bot, oldest pin first, those of a thread after its parent's. Updated by events, never polled.
   * @param names the names of this bot for `.config NAME`; by default its names on Discord
   */
  pinnedConfigs(channel: SendableChannels, names?: readonly string[]): Promise<readonly PinnedConfig[]>;
  /** Why a `.history` message is ignored, as a sentence for its author; `undefined` if it is used, or is none. */
  refusalOf(message: Message, historyRoles: readonly string[]): Promise<string | undefined>;
  /** Size of all logs in memory. */
  readonly held: { readonly messages: number; readonly bytes: number };
}

export interface CachedImage {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly base64: string;
  readonly sizeBytes: number;
}
export interface Images {
  /** Loads an image from the disk or Discord's CDN; `undefined` if it is no image, too large, deleted, or not on Discord's hosts. Never throws. */
  load(attachment: HistoryAttachment, options?: { readonly maxBytes?: number }): Promise<CachedImage | undefined>;
  /** Deletes all images from the disk; they are fetched again when needed. */
  clear(): Promise<void>;
}
export interface TextFiles {
  /**
   * The beginning of an attached text file, at most `maxBytes` of it; `undefined` when it contains no text, was deleted, or is not on Discord's hosts. Never
   * throws.
   */
  read(attachment: HistoryAttachment, maxBytes: number): Promise<TextFile | undefined>;
  /** Deletes all texts from memory; they are fetched again when needed. */
  clear(): void;
}
