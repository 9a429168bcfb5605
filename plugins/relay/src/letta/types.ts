import type { HostRegistration, RegisteredHost } from './hosting/register.js';

/** Where a prompt comes from: for whoever is asked for an approval, and for personal data. */
export interface PromptPlace {
  readonly guildId: string | null;
  readonly channelId: string;
  /** Who caused it, if anybody did. */
  readonly userId: string | null;
}

/** What an agent is told. */
export interface Prompt {
  /** At the Letta server. */
  readonly agentId: string;
  readonly text: string;
  /** The same at every attempt; letters, digits, `-` and `_`. The server gets it as the message's `otid`. */
  readonly key: string;
  /** How long the agent may work, not counting the time in which people decide about its requests, or in which it works on something else. */
  readonly timeoutMs: number;
  readonly place: PromptPlace;
  /** Whether the agent is known to have written something for it since a time in milliseconds, as its server may not have kept it. */
  readonly hasWritten?: (since: number) => Promise<boolean>;
}

/** A tool that the agent has called. */
export interface ToolUse {
  readonly callId: string;
  readonly name: string;
  /** `undefined` when no answer of it was heard of. */
  readonly ok: boolean | undefined;
}

/** What happens while an agent works, as it happens. */
export type AgentEvent =
  | { readonly kind: 'reasoning'; readonly text: string | null }
  | { readonly kind: 'tool-call'; readonly callId: string; readonly name: string; readonly input: string }
  | {
      readonly kind: 'tool-return';
      readonly callId: string;
      readonly name: string;
      readonly ok: boolean;
      readonly text: string;
    }
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'approval'; readonly callId: string; readonly name: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'usage'; readonly steps: number; readonly tokens: number }
  | { readonly kind: 'error'; readonly type: string; readonly message: string }
  | { readonly kind: 'stop'; readonly reason: string };

/** How a conversation with an agent has ended. */
export type Conversed = Answered | Unanswered;

export interface Answered {
  readonly status: 'done';
  /** What it has said without calling a tool, in order. */
  readonly texts: readonly string[];
  readonly tools: readonly ToolUse[];
  readonly steps: number;
  readonly tokens: number;
  /** As the server says it: `end_turn`, `max_steps` … */
  readonly stopReason: string;
}

export interface Unanswered {
  readonly status: 'failed';
  /** Whether the same prompt may be tried again with the same key: never once the agent has done something. */
  readonly retry: boolean;
  /** What the server asks for, where it asks for patience. */
  readonly retryAfterMs?: number;
  /** For people. */
  readonly sentence: string;
  /** For the log. */
  readonly error: unknown;
  readonly tools: readonly ToolUse[];
}

/** A call that an agent may not make before somebody has decided. */
export interface ApprovalRequest {
  readonly agentId: string;
  /** Of the prompt; together with `callId` it names the request. */
  readonly key: string;
  readonly callId: string;
  readonly tool: string;
  /** The arguments as the model wrote them: JSON, if it did it right. */
  readonly input: string;
  readonly place: PromptPlace;
}

export interface ApprovalDecision {
  readonly approve: boolean;
  /** The agent is told. */
  readonly reason?: string;
}

/** Asks people. What it throws is a denial. Aborted when the plugin stops: the request is then denied by the next process. */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>;

export interface AgentInfo {
  readonly id: string;
  readonly name: string;
  /** Names of its tools. */
  readonly tools: readonly string[];
}

/** The agents of one Letta server. */
export interface Agents {
  /**
   * Tells an agent something, and hears it out: requests for approval are asked for and answered on the way. Never throws. An agent is told
   * one thing after another. A key that was told before is looked for at the server first, and not sent again when it has arrived.
   */
  converse(prompt: Prompt, signal: AbortSignal, onEvent?: (event: AgentEvent) => void): Promise<Conversed>;
  /** Denies every request that an earlier process has left open. Call it once, before anything is told. @returns how many it has answered */
  recover(): Promise<number>;
  /** Which version the server says that it is; `undefined` when it does not say. @throws what went wrong; `troubleOf` has a sentence for it */
  version(): Promise<string | undefined>;
  /** `undefined` when there is no such agent. @throws what went wrong otherwise; `troubleOf` has a sentence for it */
  find(agentId: string): Promise<AgentInfo | undefined>;
  /** Names of the tools that an agent really has; an empty set when the server does not say. Kept for a minute. */
  toolsOf(agentId: string): Promise<ReadonlySet<string>>;
  /** Makes the host's tools known to the server, and gives them to an agent. @throws what went wrong; `troubleOf` has a sentence for it */
  register(host: HostRegistration): Promise<RegisteredHost>;
  /** Takes the host's server, and with it its tools, from the Letta server. */
  unregister(serverName: string): Promise<void>;
  /** Everything of one person that is kept here. */
  of(userId: string): Promise<readonly unknown[]>;
  forget(userId: string): Promise<void>;
}
