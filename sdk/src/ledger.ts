import type { Actor } from './access.js';
import type { ToolSource } from './provenance.js';
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

/** What is kept of every call. */
export interface LedgerEntry {
  readonly id: string;
  readonly tool: string;
  readonly plugin: string;
  readonly origin: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly argumentsHash: string;
  readonly actor: Actor;
  /** The request's key and attempt, when it had a key. */
  readonly key?: string;
  /** The message after which it was made, when the request said so. */
  readonly messageId?: string;
  readonly state: CallState;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly decidedBy?: string;
  /** Why it was denied, expired or failed; what `unknown` means. */
  readonly reason?: string;
  /** The result as people and models read it. */
  readonly text?: string;
  /** Where that came from: it is for those who may read all of it. */
  readonly sources?: readonly ToolSource[];
  /** The result may be shown in the channel of the request, although not all members there may read its sources. */
  readonly share?: 'here';
  /** The result is for the requester alone. */
  readonly audience?: 'requester';
}
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

/** A tool call as it was made, in the form in which it is kept. */
export interface RecordedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The message after which it was made: its place in the channel's history. */
  readonly messageId: string;
  /** Who asked for it; unknown for calls that were imported. */
  readonly userId?: string;
  /** The agent that made it, with the rights of `userId`. */
  readonly identity?: string;
}

export interface RecordedResult {
  readonly callId: string;
  /** What people and models were told of it; `null` when it did not run. */
  readonly output: unknown;
  /** Why it failed or did not run. */
  readonly error?: string;
  /** Where the output came from; unknown for calls that were imported. */
  readonly sources?: readonly ToolSource[];
  /** It was for the requester alone. */
  readonly audience?: 'requester';
}

export interface RecordedUse {
  readonly call: RecordedCall;
  readonly result: RecordedResult;
  /** When it had ended, ISO 8601. */
  readonly timestamp: string;
}

/** Every tool call of every channel, kept until it is removed. */
export interface ToolHistory {
  /**
   * The channel's calls, oldest first: those after `sinceMessageId` (that message included), else the latest.
   * Read from the disk once; a later request with a newer `sinceMessageId` also lets go of what is older.
   */
  recent(channelId: string, sinceMessageId?: string): Promise<readonly RecordedUse[]>;
}
export const ToolHistory = defineToken<ToolHistory>('cinnabar.tool-history');
