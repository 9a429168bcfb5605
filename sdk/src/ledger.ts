import { z } from 'zod';
import type { Actor, Place } from './access.js';
import type { Disposer } from './context.js';
import { defineToken } from './token.js';

/** One state machine: proposed → pending → approved → executing → done | failed, or denied | expired | unknown. */
export const CALL_STATES = [
  'proposed',
  'pending',
  'approved',
  'executing',
  'done',
  'failed',
  'denied',
  'expired',
  'unknown',
] as const;
export type CallState = (typeof CALL_STATES)[number];

/** The record of every call. */
export interface LedgerEntry {
  readonly id: string;
  readonly tool: string;
  readonly plugin: string;
  readonly origin: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly argumentsHash: string;
  readonly actor: Actor;
  /** The request's idempotency key and attempt, when it had a key. */
  readonly key?: string;
  /** The message after which it was made, if the request named it. */
  readonly messageId?: string;
  readonly state: CallState;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly decidedBy?: string;
  /** Why it was denied, expired or failed; what `unknown` means. */
  readonly reason?: string;
  /** The result as people and models get it. */
  readonly text?: string;
  /** The sources of the result. Only readers with access to all of them may see the result. */
  readonly sources?: readonly ToolSource[];
  /** The result may be shown in the channel of the request, although not all members there may read its sources. */
  readonly share?: 'here';
  /** The result is for the requester alone. */
  readonly audience?: 'requester';
}
/** The record of tool calls, to be read. The host writes it. */
export interface Ledger {
  get(callId: string): Promise<LedgerEntry | undefined>;
  /** The newest first. */
  recent(filter: {
    readonly userId?: string;
    readonly guildId?: string;
    readonly limit: number;
  }): Promise<readonly LedgerEntry[]>;
}
export const Ledger = defineToken<Ledger>('cinnabar.ledger');

/** A tool call in the form in which it is stored. */
export interface RecordedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The message after which it was made: its place in the channel's history. */
  readonly messageId: string;
  /** The requester; unknown for imported calls. */
  readonly userId?: string;
  /** The agent that made it, with the rights of `userId`. */
  readonly identity?: string;
}

/** The stored result of a call. */
export interface RecordedResult {
  readonly callId: string;
  /** The result as people and models got it; `null` when it did not run. */
  readonly output: unknown;
  /** Why it failed or was not run. */
  readonly error?: string;
  /** Where the output came from; unknown for calls that were imported. */
  readonly sources?: readonly ToolSource[];
  /** It was for the requester alone. */
  readonly audience?: 'requester';
}

/** A stored call with its result. */
export interface RecordedUse {
  readonly call: RecordedCall;
  readonly result: RecordedResult;
  /** When it had ended, ISO 8601. */
  readonly timestamp: string;
}

/** Every tool call of every channel, kept until it is removed. */
export interface ToolHistory {
  /**
   * The channel's calls, oldest first: those from `sinceMessageId` on (inclusive), otherwise the latest. Read from the disk once; a later request with a newer
   * `sinceMessageId` also drops older calls from memory.
   */
  recent(channelId: string, sinceMessageId?: string): Promise<readonly RecordedUse[]>;
}
export const ToolHistory = defineToken<ToolHistory>('cinnabar.tool-history');

/** A place that a tool's output came from, with the messages that it quotes. Without a channel: the guild as a whole, its members and roles. */
export interface ToolSource extends Place {
  /** Reading them requires permission to read the message history. When one of them is deleted, the output is not shown any more. */
  readonly messageIds?: readonly string[];
  /** The members whose texts or data are in it: when one of them has their data deleted, the stored output is deleted. */
  readonly userIds?: readonly string[];
}

/** A stored source. */
export const toolSource: z.ZodType<ToolSource> = z.object({
  guildId: z.string().nullable(),
  channelId: z.string().exactOptional(),
  messageIds: z.array(z.string()).exactOptional(),
  userIds: z.array(z.string()).exactOptional(),
});

/** Whether the sources contain a person's texts or data. */
export function isOf(sources: readonly ToolSource[] | undefined, userId: string): boolean {
  return sources?.some(({ userIds }) => userIds?.includes(userId)) === true;
}

/** Replaces a stored result after a member whose texts were in it has had their data deleted. */
export const FORGOTTEN = '(deleted: a member whose words were in this had their data deleted)';

/** Decides who may see content from given sources. Checked each time before stored content is shown to people or sent to a model. */
export interface Provenance {
  /**
   * Whether every actor in `to` may read all sources now, and all quoted messages still exist. `false` for a result without sources, since its places are not
   * known, and when something cannot be determined.
   */
  mayShow(sources: readonly ToolSource[] | undefined, to: readonly Actor[]): Promise<boolean>;
  /** Like `mayShow` for one person in any place: for their export, or a direct message. */
  mayHave(sources: readonly ToolSource[] | undefined, userId: string): Promise<boolean>;
  /** Whether all members who can see `at` may read all sources. Otherwise the content is more private than the place where it would be shown. */
  mayTell(sources: readonly ToolSource[] | undefined, at: Place): boolean;
}
export const Provenance = defineToken<Provenance>('cinnabar.provenance');

/** The origin of a message of the bot that is not its own text. */
export type MessageOrigin =
  /** A tool sent it for a member; `undefined` when that member has had their data deleted. */
  | { readonly kind: 'sent-for'; readonly userId: string | undefined }
  /** A confirmation card for a member, open or decided. */
  | { readonly kind: 'card'; readonly userId: string; readonly open: boolean };

/** Looks up messages of one channel by id; unknown ones are left out. */
export type MessageOriginSource = (
  channelId: string,
  messageIds: readonly string[],
) => Promise<ReadonlyMap<string, MessageOrigin>>;

/**
 * On whose behalf the bot sent a message. All its messages look alike on Discord; a model must not take a member's text for the bot's own, and members can ask
 * with `!why`.
 */
export interface MessageOrigins {
  of: MessageOriginSource;
  /** Adds a plugin's source of origins, for messages that the plugin has sent. */
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
