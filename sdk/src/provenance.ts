import { z } from 'zod';
import type { Actor, Place } from './access.js';
import type { Disposer } from './context.js';
import { defineToken } from './token.js';

/** A place that a tool's output came from, with the messages that it quotes. Without a channel: the guild as a whole, its members and roles. */
export interface ToolSource extends Place {
  /** Reading them takes the permission to read the message history. When one of them is deleted, the output is not shown any more. */
  readonly messageIds?: readonly string[];
  /** Whose words or data are in it: when one of them has their data deleted, what was kept of the output goes. */
  readonly userIds?: readonly string[];
}

/** A source as it is kept. */
export const toolSource: z.ZodType<ToolSource> = z.object({
  guildId: z.string().nullable(),
  channelId: z.string().exactOptional(),
  messageIds: z.array(z.string()).exactOptional(),
  userIds: z.array(z.string()).exactOptional(),
});

/** Whether a person's words or data are in what came from there. */
export function isOf(sources: readonly ToolSource[] | undefined, userId: string): boolean {
  return sources?.some(({ userIds }) => userIds?.includes(userId)) === true;
}

/** In the place of what was kept of a result, when a member whose words were in it has had their data deleted. */
export const FORGOTTEN = '(deleted: a member whose words were in this had their data deleted)';

/** Who may be shown what came from where: asked each time before something that is kept is shown, to people or to a model. */
export interface Provenance {
  /**
   * Whether every one of them may read all of it now, and its messages are still there. A result without sources is shown to no one: its places are not known.
   * What cannot be found out is a no.
   */
  mayShow(sources: readonly ToolSource[] | undefined, to: readonly Actor[]): Promise<boolean>;
  /** The same for one person alone, wherever they are: for what they export, or get in a direct message. */
  mayHave(sources: readonly ToolSource[] | undefined, userId: string): Promise<boolean>;
  /** Whether all members who can see `at` may read all of it: otherwise it is more private than the place where it would be shown. */
  mayTell(sources: readonly ToolSource[] | undefined, at: Place): boolean;
}
export const Provenance = defineToken<Provenance>('cinnabar.provenance');

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
