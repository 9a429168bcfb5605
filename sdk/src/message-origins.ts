import type { Disposer } from './lifecycle.js';
import { defineToken } from './token.js';

/** What stands behind a message of the bot that is not its own word. */
export type MessageOrigin =
  /** A tool sent it for a member; `undefined` when that member has had their data deleted. */
  | { readonly kind: 'sent-for'; readonly userId: string | undefined }
  /** It asks a member for a confirmation, or did. */
  | { readonly kind: 'card'; readonly userId: string; readonly open: boolean };

/** Looks up messages of one channel by id; those that it knows nothing of are left out. */
export type MessageOriginSource = (
  channelId: string,
  messageIds: readonly string[],
) => Promise<ReadonlyMap<string, MessageOrigin>>;

/**
 * For whom the bot said what. All its messages look alike on Discord; a model must not take for the bot's own word what a member had it say,
 * and members can ask with `!why`.
 */
export interface MessageOrigins {
  of: MessageOriginSource;
  /** Adds what a plugin knows of messages that it has sent. */
  add(source: MessageOriginSource): Disposer;
}
export const MessageOrigins = defineToken<MessageOrigins>('cinnabar.message-origins');

const MARK = /^-# for (?:<@(\d{1,20})>|[^\n]{1,100})(?:\n|$)/;

/** The line at the beginning of a message that was sent for a member; Discord shows it small, with the member's name. */
export function spokenForMark(userId: string): string {
  return `-# for <@${userId}>\n`;
}

/** The text below the mark; `undefined` when it has none. */
export function withoutMark(content: string): string | undefined {
  const mark = MARK.exec(content)?.[0];
  return mark === undefined ? undefined : content.slice(mark.length);
}
