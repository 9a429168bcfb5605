import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';

/** The outcome of a tool call, as the agent reads it. */
export interface ToolOutcome {
  readonly status: 'success' | 'error' | 'denied';
  readonly text: string;
}

/** The actions of an agent in response to a message. After the run is cancelled, its step still finishes; the next method throws. */
export interface AgentTurn {
  readonly agentId: string;
  readonly agentName: string;
  readonly conversationId: string | null;
  /** Id of the current run: an approval starts another run. */
  readonly runId: string;
  /** The message to the agent. */
  readonly prompt: string;
  readonly otid: string | null;
  /** Names of the agent's tools. */
  readonly tools: readonly string[];
  /** Aborts when the server stops. */
  readonly signal: AbortSignal;
  /** Sends reasoning, visible or hidden. */
  reason(text: string): void;
  reasonHidden(): void;
  /** Sends an assistant message, without a tool call. */
  say(text: string): void;
  /**
   * Calls a tool on the server where it is registered, with that server's bearer token. Waits for an approval first if the tool or `approval` requires one.
   * This is a separate step.
   */
  callTool(
    name: string,
    input?: Readonly<Record<string, unknown>>,
    options?: { readonly approval?: boolean },
  ): Promise<ToolOutcome>;
  /** Calls several tools in one step: those that need an approval are decided together, and one message contains all outcomes. */
  callTools(
    calls: readonly {
      readonly name: string;
      readonly input?: Readonly<Record<string, unknown>>;
      readonly approval?: boolean;
    }[],
  ): Promise<readonly ToolOutcome[]>;
  /** Adds a server message to the history, as if a user had written it, as can happen in the middle of a run. */
  alert(text: string): void;
  /** Sends a keep-alive. */
  ping(): void;
  /** Waits, on the stand-in's clock. */
  wait(ms: number): Promise<void>;
  /** Suspends the script until `release()`, or until the server stops. Cancelling does not end it. */
  hang(): Promise<void>;
  /** Cuts the connections that read the run; the run itself continues. */
  cut(): void;
  /** Ends the run with an error in the middle of the stream. `detail` is the text of the provider or the server. */
  fail(type: string, message: string, detail?: string): never;
  /** Ends the run with this stop reason, without further details. */
  stop(reason: StopReasonType): never;
}

/** The agent's reaction to each message. Returned text is sent at the end. */
export type AgentScript = (turn: AgentTurn) => unknown;
