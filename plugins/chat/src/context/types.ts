import type { LlmRequest, ModelTool, ModelTraits } from '@cinnabar/sdk';
import type { BotConfig } from '../config/keys.js';
import type { HistoryWindow, Images, TextFiles } from '../history/types.js';
import type { CacheState, Ttl } from './caching/cache-state.js';

/** An earlier tool call, with its current state. */
export interface ToolRecord {
  readonly callId: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The message after which the call was made. */
  readonly afterMessageId: string;
  /** The result as the model reads it; for a pending call, a note that it was not executed. */
  readonly result: string;
  readonly isError: boolean;
  /** The same for the calls of one step; a call without it is a step of its own. */
  readonly step?: string;
}

/** Names of what people mention, as far as the requester may see them. `undefined`: no name for the model. */
export interface MentionNames {
  user(id: string): { readonly displayName: string; readonly username: string } | undefined;
  role(id: string): string | undefined;
  channel(id: string): string | undefined;
}

/** The current question. It is never filtered out, and is placed at the end if no message of the window contains it (a slash command). */
export interface Question {
  readonly messageId: string | null;
  readonly speaker: { readonly id: string; readonly displayName: string; readonly username: string };
  /** The text without the command. */
  readonly text: string;
}

export interface ContextInput {
  readonly self: { readonly id: string; readonly name: string };
  readonly system: string;
  /** Oldest first. */
  readonly window: HistoryWindow;
  readonly tools: readonly ModelTool[];
  /** Oldest first. */
  readonly records: readonly ToolRecord[];
  readonly images: Pick<Images, 'load'>;
  readonly textFiles: Pick<TextFiles, 'read'>;
  readonly config: BotConfig;
  readonly traits: ModelTraits;
  readonly memory: CacheState;
  /** In ms since the Unix epoch. */
  readonly now: number;
  readonly mentions?: MentionNames;
  readonly question?: Question;
  /** The member for whom the model continues its last message. Then there is no question. */
  readonly goesOnFor?: Question['speaker'];
  /** Removes a command: `!ai Hello` becomes `Hello`. */
  withoutCommand?(content: string): string;
}

export interface BuiltContext {
  readonly request: LlmRequest;
  /** The parts of the request, in order. */
  readonly pieces: readonly ContextPiece[];
  /** To be stored after the first completion. */
  readonly memory: CacheState;
  /** For the receipt. */
  readonly facts: ContextFacts;
}

/** The size of a part of a request. */
export interface ContextPiece {
  readonly kind: 'tools' | 'system' | 'messages' | 'question';
  /** Number of tools, or of messages as the model gets them. */
  readonly count: number;
  /** An estimate. */
  readonly tokens: number;
  /** The expected use of the provider's cache: the part is read from it, written to it, or neither. */
  readonly cache: 'read' | 'written' | 'fresh';
  /** The time to live of the breakpoint at the end of this part; `undefined` without one. */
  readonly breakpoint?: Ttl | undefined;
}

export interface Breakpoint {
  readonly at: 'tools' | 'system' | string;
  readonly ttl: Ttl;
  readonly because: string;
}

export interface ContextFacts {
  /** Discord messages that the model sees. */
  readonly messages: number;
  /** Messages of the window that it does not see: dot messages, those hidden by a reaction, empty replies. */
  readonly hidden: number;
  readonly images: number;
  readonly estimatedTokens: number;
  /** Number of declared tools. */
  readonly tools: number;
  /** The tokens of tools and system prompt. */
  readonly toolTokens: number;
  readonly systemTokens: number;
  readonly rolled: boolean;
  readonly breakpoints: readonly Breakpoint[];
  /** Why the cache is used in this way: "asked every 40 s: kept for 5 minutes". */
  readonly plan: string;
  /** The maximum number of messages in the window, and the reason. */
  readonly windowRule: string;
  /** Tokens of prefix that the provider should still hold. */
  readonly expectedReadTokens: number;
  /** Why a prefix that was written before will not be read: "the window rolled". */
  readonly expectedMiss: string | undefined;
}
