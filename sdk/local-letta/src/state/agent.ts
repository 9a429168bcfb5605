import type { Message, ToolCall } from '@letta-ai/letta-client/resources/agents/messages';
import type { AgentScript } from '../script.js';
import type { StandInTool } from './tool.js';

/** What somebody has decided about a call. */
export interface Decision {
  readonly approve: boolean;
  readonly reason: string | null;
}

/** Calls that nobody has decided about yet: the agent takes no other message until then. */
export interface PendingApproval {
  /** Id of the `approval_request_message`. */
  readonly messageId: string;
  /** Those of one step, which are decided together. */
  readonly calls: readonly ToolCall[];
  /** Lets the script go on, in a run of its own, with a decision for each call. `null`: it was cancelled. */
  readonly resume: (runId: string, decisions: readonly Decision[] | null) => void;
}

/** Where messages follow one another: an agent's own, or a conversation with it. */
export interface Thread {
  /** Of the conversation; `null` for the agent's own. */
  readonly conversationId: string | null;
  /** Oldest first. */
  readonly messages: Message[];
  pending: PendingApproval | undefined;
  /** Ids of the calls that were decided last. */
  decided: readonly string[];
}

export interface LettaAgent {
  readonly id: string;
  name: string;
  readonly createdAt: string;
  readonly tools: StandInTool[];
  /** Names of tools that wait for somebody's approval. */
  readonly approvals: Set<string>;
  /** What stands for `{{ NAME }}` where servers of tools are registered. */
  secrets: Readonly<Record<string, string>>;
  readonly own: Thread;
  readonly conversations: Map<string, Thread>;
  script: AgentScript | undefined;
}
