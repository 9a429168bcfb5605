import type { LlmRequest, ModelTool, ModelTraits } from '@cinnabar/sdk';
import type { BotConfig } from '../config/keys.js';
import type { HistoryWindow, Images, TextFiles } from '../history/types.js';
import type { CacheState, Ttl } from './caching/cache-state.js';

/** A tool call of the past, with how it stands now. */
export interface ToolRecord {
  readonly callId: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** It happened after this message. */
  readonly afterMessageId: string;
  /** The result as the model reads it; of a pending call, that it has not run. */
  readonly result: string;
  readonly isError: boolean;
  /** Calls of one step of the model share it; a call without one stands alone. */
  readonly step?: string;
}

/** Names of what people mention, as far as the requester may see them. `undefined`: no name for the model. */
export interface MentionNames {
  user(id: string): { readonly displayName: string; readonly username: string } | undefined;
  role(id: string): string | undefined;
  channel(id: string): string | undefined;
}

/** What is asked now. It is never filtered out, and stands at the end when no message of the window holds it (a slash command). */
export interface Question {
  readonly messageId: string | null;
  readonly speaker: { readonly id: string; readonly displayName: string; readonly username: string };
  /** Without the command that led here. */
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
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly mentions?: MentionNames;
  readonly question?: Question;
  /** The member for whom the model continues its last message; then there is no question. */
  readonly goesOnFor?: Question['speaker'];
  /** `!ai Hello` was said as `Hello`. */
  withoutCommand?(content: string): string;
}

export interface BuiltContext {
  readonly request: LlmRequest;
  /** The request piece by piece, in its order. */
  readonly pieces: readonly ContextPiece[];
  /** To be saved once the request has been answered. */
  readonly memory: CacheState;
  /** For the receipt. */
  readonly facts: ContextFacts;
}

/** A piece of a request, by sizes alone. */
export interface ContextPiece {
  readonly kind: 'tools' | 'system' | 'messages' | 'question';
  /** Tools, or messages as the model is shown them. */
  readonly count: number;
  /** Estimated. */
  readonly tokens: number;
  /** What is expected of the provider's cache: the piece is read from it, written to it, or neither. */
  readonly cache: 'read' | 'written' | 'fresh';
  /** For how long a breakpoint at its end keeps what comes up to there. */
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
  /** Of the window, those that it does not: dot messages, hidden by a reaction, empty replies. */
  readonly hidden: number;
  readonly images: number;
  readonly estimatedTokens: number;
  /** Tools declared. */
  readonly tools: number;
  /** Of the tokens, those of the tools, and of the system prompt. */
  readonly toolTokens: number;
  readonly systemTokens: number;
  readonly rolled: boolean;
  readonly breakpoints: readonly Breakpoint[];
  /** Why the cache is used as it is: "asked every 40 s: kept for 5 minutes". */
  readonly plan: string;
  /** How many messages the window may have, and why. */
  readonly windowRule: string;
  /** Tokens of prefix that the provider should still hold. */
  readonly expectedReadTokens: number;
  /** The cause, when a prefix that was written before will not be read: "the window rolled". */
  readonly expectedMiss: string | undefined;
}
