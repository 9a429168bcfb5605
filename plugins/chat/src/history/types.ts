import type { Actor } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';

/** A message as the context sees it, whatever discord.js object it came from. */
export interface HistoryMessage {
  readonly id: string;
  readonly channelId: string;
  readonly author: {
    readonly id: string;
    /** Unique to the speaker: a user's id, or webhook id and name. */
    readonly speaker: string;
    readonly displayName: string;
    readonly username: string;
    readonly bot: boolean;
    /** This bot itself. */
    readonly self: boolean;
  };
  /** As written: mentions still as `<@id>`. */
  readonly content: string;
  readonly createdAt: number;
  readonly editedAt: number | null;
  readonly replyTo: { readonly messageId: string; readonly speaker: string | null } | null;
  readonly attachments: readonly HistoryAttachment[];
  /** Embeds, polls, stickers and system events as short plain texts. */
  readonly extras: readonly string[];
  /** Emoji under it: name, and whether somebody other than this bot put it there. */
  readonly reactions: readonly string[];
}

export interface HistoryAttachment {
  readonly url: string;
  readonly name: string;
  readonly contentType: string | null;
  readonly sizeBytes: number;
}

/** A stretch of history that a context is built from, oldest first. */
export interface HistoryWindow {
  readonly messages: readonly HistoryMessage[];
  /** Whether nothing older exists (or may be read). */
  readonly whole: boolean;
  /** How many REST requests it took: 0 when warm. */
  readonly restCalls: number;
  /** What could not be included, as sentences for the log and `!why`: `.history` that was refused, unreadable channels. */
  readonly notes: readonly string[];
}

export interface ChannelHistory {
  /**
   * At least the last `limit` messages where there are that many; everything from `from` on (a message id) when that reaches further back.
   * Follows `.history` commands of authorised members, lets threads inherit their parent, and reads only what `reader` and the bot may read.
   */
  window(
    channel: SendableChannels,
    options: {
      readonly limit: number;
      readonly from?: string;
      readonly reader: Actor;
      readonly historyRoles: readonly string[];
    },
  ): Promise<HistoryWindow>;
  /** Texts of pinned `.config` messages for this bot, oldest pin first. Kept by events, never polled. */
  pinnedConfigs(channel: SendableChannels): Promise<readonly { readonly messageId: string; readonly yaml: string }[]>;
}

export interface CachedImage {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly base64: string;
  readonly sizeBytes: number;
}
export interface Images {
  /** From disk or Discord's CDN; `undefined` when it is no image, too large, gone, or not on Discord's hosts. Never throws. */
  load(attachment: HistoryAttachment): Promise<CachedImage | undefined>;
}
