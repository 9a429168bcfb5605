import type { z } from 'zod';
import type { AccessPolicy, Actor } from './access.js';
import type { Logger } from './logger.js';
import { defineToken } from './token.js';
import type { ToolContent, ToolProgress } from './tool-content.js';

export type ToolInput = z.ZodObject;
export type Risk = 'read' | 'write' | 'destructive';

/** What a terminal-style card calls things. */
export interface TerminalNames<Argument extends string = string> {
  readonly program: string;
  readonly operation: string;
  readonly record: string;
  /** By default an argument keeps its name. */
  readonly keys?: { readonly [K in Argument]?: string };
}

/** How a call is shown to people. What is left out has a default that shows every argument in full. */
export interface ToolPresentation<I, O> {
  /** First person, without the final stop: "I'll add V to your party". Plain text: whoever shows it escapes it. */
  sentence?(input: I): string;
  /** Arguments that `sentence` already shows in full, so that a plain card need not repeat them. */
  readonly said?: readonly (keyof I & string)[];
  /** "Add character to party roster" */
  readonly action?: string;
  /** For terminal-style cards: PARTY_MANAGER, ADD_CHARACTER, CHARACTER_DATA; `keys` name arguments there, `{ gear_preferences: 'gear' }`. */
  readonly terminal?: TerminalNames<keyof I & string>;
  /** Argument labels: `{ gear_preferences: 'Gear Preferences' }`; by default made from the name. */
  readonly labels?: { readonly [K in keyof I & string]?: string };
  /** "✓ V has been added to your party!" Also what a model is told of the result. Markdown: escape what people typed with `plainText`. */
  success?(input: I, output: O): string;
  /** The result with what text cannot say, for who can take it; by default just the text. */
  content?(input: I, output: O): readonly ToolContent[];
  /** "Cancelled adding V to your party." Plain text, as `sentence`. */
  cancelled?(input: I): string;
}

/** What `run` gets beside its validated input. */
export interface ToolContext {
  readonly callId: string;
  readonly actor: Actor;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Tells whoever waits for the call how far it has come; nobody may be listening. */
  progress(progress: ToolProgress): void;
}

export interface ToolDefinition<S extends ToolInput = ToolInput, O = unknown> {
  /** As models see it: letters, digits and `_`, at most 64. Unique in the host. */
  readonly name: string;
  readonly description: string;
  readonly input: S;
  /**
   * The JSON Schema to show as it is, for a tool that has one from elsewhere and no zod schema to say as much: `input` still has
   * to refuse what does not fit. By default made from `input`.
   */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly risk: Risk;
  readonly access?: AccessPolicy;
  /** Utterances with slots named after arguments: "add {name} to my party, he's a {role}". */
  readonly examples?: readonly string[];
  readonly present?: ToolPresentation<z.output<S>, O>;
  /** Throw `UserError` for what the person should read. */
  run(input: z.output<S>, context: ToolContext): O | Promise<O>;
}

/** Policy of a guild for one tool. `deny` is final. */
export const TOOL_POLICIES = ['allow', 'confirm', 'deny'] as const;
export type ToolPolicy = (typeof TOOL_POLICIES)[number];

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

export interface ToolFailure {
  readonly code: string;
  /** May be shown to people. */
  readonly message: string;
}

/** How a call ended. */
export type SettledOutcome =
  | {
      readonly status: 'done';
      readonly callId: string;
      readonly output: unknown /** For people and models. */;
      readonly text: string;
      /** The same with images and the like, where the tool has any. */
      readonly content?: readonly ToolContent[];
    }
  | { readonly status: 'denied'; readonly callId: string; readonly reason: string }
  | { readonly status: 'expired'; readonly callId: string; readonly reason: string }
  | { readonly status: 'failed'; readonly callId: string; readonly error: ToolFailure };

/** Not run yet: `note` tells the model so; `settled` resolves when it has ended. */
export interface DeferredOutcome {
  readonly status: 'deferred';
  readonly callId: string;
  readonly note: string;
  readonly settled: Promise<SettledOutcome>;
}
export type Outcome = SettledOutcome | DeferredOutcome;

/** The default rendering of a call, every argument in full, with the tool's own words where it has them. */
export interface CallCard {
  readonly sentence: string;
  readonly action: string;
  readonly terminal: TerminalNames;
  /** Every argument; `said` marks those that the sentence already shows. */
  readonly fields: readonly {
    readonly name: string;
    readonly label: string;
    readonly value: unknown;
    readonly said: boolean;
  }[];
  /** What to say when it is cancelled. */
  readonly cancelled: string;
}

/** A call on its way through the interceptors. Its arguments are validated, frozen and hashed: exactly these run. */
export interface ToolCall {
  readonly id: string;
  readonly tool: ToolInfo;
  readonly input: Readonly<Record<string, unknown>>;
  /** SHA-256 of the canonical arguments, hex. */
  readonly argumentsHash: string;
  readonly actor: Actor;
  /** The message after which it was made, when who asked has said so. */
  readonly messageId: string | undefined;
  readonly signal: AbortSignal;
  readonly card: CallCard;
  /** The guild's policy for this tool, when it has one. Never `deny`: such a call does not come this far. */
  readonly policy: ToolPolicy | undefined;
  /** proposed → pending, written before it resolves. Call it before anything is shown. */
  hold(): Promise<void>;
  /** pending → approved. `false` when another decision was first. */
  approve(byUserId: string): Promise<boolean>;
  /** pending → denied. `false` when another decision was first. */
  deny(byUserId: string, reason: string): Promise<boolean>;
  /** pending → expired. `false` when a decision was first. */
  expire(reason: string): Promise<boolean>;
}

export interface Interceptor {
  readonly name: string;
  /** Lower runs first (outermost). */
  readonly order: number;
  /**
   * Wraps an invocation. Return `next()` to go on, or an outcome of your own. After `hold()`, `next()` runs only once it is approved:
   * it checks access again, claims the call, and runs it at most once.
   */
  handle(call: ToolCall, next: () => Promise<SettledOutcome>): Promise<Outcome>;
}

/** A tool as others see it. */
export interface ToolInfo {
  readonly name: string;
  readonly plugin: string;
  readonly description: string;
  readonly risk: Risk;
  readonly access: AccessPolicy;
  readonly examples: readonly string[];
  /** JSON Schema of the input: 2020-12 made from the zod schema, else the one that the tool brought. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ToolRequest {
  readonly name: string;
  /** As the model gave them: validated by the host. */
  readonly arguments: unknown;
  readonly actor: Actor;
  readonly signal?: AbortSignal;
  /** Where the request comes from, for the audit: `chat`, `mcp`. */
  readonly origin: string;
  /** The message after which the call is made: its place in the channel's history. */
  readonly messageId?: string;
  /** Told how far the call has come, when the tool says so. */
  readonly onProgress?: (progress: ToolProgress) => void;
}

/** A call that is over, however it ended: done, refused before it ran, or failed. */
export interface SettledCall {
  readonly id: string;
  /** The tool's name as it was asked for; there may be none of that name. */
  readonly tool: string;
  /** What was validated; as it was given when it was not. */
  readonly input: unknown;
  readonly actor: Actor;
  readonly origin: string;
  readonly messageId: string | undefined;
  readonly outcome: SettledOutcome;
}

export interface Tools {
  list(): readonly ToolInfo[];
  /** The tools that the actor may use there: plugin enabled, access granted, not denied by policy. */
  offered(actor: Actor): Promise<readonly ToolInfo[]>;
  /** Never throws: everything that can go wrong is an outcome. */
  invoke(request: ToolRequest): Promise<Outcome>;
  /**
   * Tells `listener` of every call once it is over, before whoever asked learns of it. What it throws is logged, and changes nothing.
   * @returns takes it back
   */
  onSettled(listener: (call: SettledCall) => void | Promise<void>): () => void;
}
export const Tools = defineToken<Tools>('cinnabar.tools');

/** What is kept of every call. */
export interface LedgerEntry {
  readonly id: string;
  readonly tool: string;
  readonly plugin: string;
  readonly origin: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly argumentsHash: string;
  readonly actor: Actor;
  readonly state: CallState;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly decidedBy?: string;
  /** Why it was denied, expired or failed; what `unknown` means. */
  readonly reason?: string;
  /** What people and models are told of the result. */
  readonly text?: string;
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

export interface ToolPolicies {
  get(guildId: string, tool: string): Promise<ToolPolicy | undefined>;
  set(guildId: string, tool: string, policy: ToolPolicy): Promise<void>;
  clear(guildId: string, tool: string): Promise<void>;
  list(guildId: string): Promise<Readonly<Record<string, ToolPolicy>>>;
}
export const ToolPolicies = defineToken<ToolPolicies>('cinnabar.tool-policies');
