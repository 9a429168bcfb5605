import type { ToolSource } from './provenance.js';
import { defineToken } from './token.js';

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
  /** It was for who asked alone. */
  readonly audience?: 'requester';
}

export interface RecordedUse {
  readonly call: RecordedCall;
  readonly result: RecordedResult;
  /** When it had ended, ISO 8601. */
  readonly timestamp: string;
}

/** Every tool call of every channel, kept for as long as nobody removes it. */
export interface ToolHistory {
  /**
   * The channel's calls, oldest first: those after `sinceMessageId` (that message included), else the latest.
   * Read from the disk once; a later request with a newer `sinceMessageId` also lets go of what is older.
   */
  recent(channelId: string, sinceMessageId?: string): Promise<readonly RecordedUse[]>;
}
export const ToolHistory = defineToken<ToolHistory>('cinnabar.tool-history');
