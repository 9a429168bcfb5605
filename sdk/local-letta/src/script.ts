import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';

/** The outcome of a tool call, as the agent reads it. */
export interface ToolOutcome {
  readonly status: 'success' | 'error' | 'denied';
  readonly text: string;
}

/** What an agent can do about the message that it was sent. Once the run is cancelled, its step still ends; the next verb throws. */
export interface AgentTurn {
  readonly agentId: string;
  readonly agentName: string;
  readonly conversationId: string | null;
  /** Of the run as it is now: an approval begins another one. */
  readonly runId: string;
  /** What it was told. */
  readonly prompt: string;
  readonly otid: string | null;
  /** Names of the tools that it has. */
  readonly tools: readonly string[];
  /** Aborts when the server goes down. */
  readonly signal: AbortSignal;
  /** Thinks, where others can read it, or not. */
  reason(text: string): void;
  reasonHidden(): void;
  /** Says something that is no tool call: an assistant message. */
  say(text: string): void;
  /**
   * Calls a tool, at the server where it is registered, with that server's bearer. Waits for an approval first where the tool needs one,
   * or `approval` says so. A step of its own.
   */
  callTool(
    name: string,
    input?: Readonly<Record<string, unknown>>,
    options?: { readonly approval?: boolean },
  ): Promise<ToolOutcome>;
  /** Calls several tools in one step: those that need an approval are decided about together, and all outcomes come in one message. */
  callTools(
    calls: readonly {
      readonly name: string;
      readonly input?: Readonly<Record<string, unknown>>;
      readonly approval?: boolean;
    }[],
  ): Promise<readonly ToolOutcome[]>;
  /** Puts a message of the server's own into the history, as if a user had written it: that, too, happens in the middle of a run. */
  alert(text: string): void;
  /** A sign of life. */
  ping(): void;
  /** Lets time pass, on the stand-in's clock. */
  wait(ms: number): Promise<void>;
  /** Stands still until `release()`, or until the server goes down. To be cancelled does not end it. */
  hang(): Promise<void>;
  /** Cuts the connections that read the run, which itself goes on. */
  cut(): void;
  /** Ends the run with an error in the middle of the stream. `detail` is what a provider or the server said itself. */
  fail(type: string, message: string, detail?: string): never;
  /** Ends the run for such a reason, of which the server says no more. */
  stop(reason: StopReasonType): never;
}

/** What an agent does about each message. Text that it returns is said at the end. */
export type AgentScript = (turn: AgentTurn) => unknown;
