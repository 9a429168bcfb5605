import type { Clock } from '@cinnabar/sdk';
import type { Message, Run, ToolCall } from '@letta-ai/letta-client/resources/agents/messages';
import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';
import { createPauses, type Pauses } from './runs/pause.js';
import type { AgentScript } from './script.js';

/** The decision about a call. */
export interface Decision {
  readonly approve: boolean;
  readonly reason: string | null;
}

/** Calls without a decision: while there are any, the agent accepts no other message. */
interface PendingApproval {
  /** Id of the `approval_request_message`. */
  readonly messageId: string;
  /** Calls of one step, which are decided together. */
  readonly calls: readonly ToolCall[];
  /** Continues the script in another run, with a decision for each call. `null`: the run was cancelled. */
  readonly resume: (runId: string, decisions: readonly Decision[] | null) => void;
}

/** A thread of messages: an agent's own, or a conversation with it. */
export interface Thread {
  /** Id of the conversation; `null` for the agent's own. */
  readonly conversationId: string | null;
  /** Oldest first. */
  readonly messages: Message[];
  pending: PendingApproval | undefined;
  /** Ids of the latest decided calls. */
  decided: readonly string[];
}

export interface LettaAgent {
  readonly id: string;
  name: string;
  readonly createdAt: string;
  readonly tools: StandInTool[];
  /** Names of tools that wait for approval. */
  readonly approvals: Set<string>;
  /** The values for `{{ NAME }}` in registered tool servers. */
  secrets: Readonly<Record<string, string>>;
  readonly own: Thread;
  readonly conversations: Map<string, Thread>;
  script: AgentScript | undefined;
}

/** An agent without messages. */
export function createAgent(
  world: World,
  init: { readonly name: string; readonly tools?: readonly StandInTool[]; readonly script?: AgentScript | undefined },
): LettaAgent {
  const agent: LettaAgent = {
    id: world.id('agent'),
    name: init.name,
    createdAt: timestamp(world),
    tools: [...(init.tools ?? [])],
    approvals: new Set(),
    secrets: {},
    own: createThread(null),
    conversations: new Map(),
    script: init.script,
  };
  world.agents.set(agent.id, agent);
  return agent;
}

export function createThread(conversationId: string | null): Thread {
  return { conversationId, messages: [], pending: undefined, decided: [] };
}

/** A tool that agents can have. */
export interface StandInTool {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Where it runs: on a registered server, or in the stand-in. */
  readonly home: { readonly serverId: string; readonly serverName: string } | LocalTool;
}

/** A tool that the stand-in runs itself, like Letta's built-in ones. @returns the text for the agent */
export type LocalTool = (input: Readonly<Record<string, unknown>>) => string | Promise<string>;

/** A registered tool server. */
export interface McpServer {
  readonly id: string;
  name: string;
  url: string;
  /** Name of the header that carries the token. */
  authHeader: string | null;
  authToken: string | null;
  customHeaders: Readonly<Record<string, string>>;
}

/** The reason of a run's failure, in its stream and its metadata. */
export interface RunFailure {
  readonly type: string;
  readonly message: string;
  readonly detail: string;
}

/** An answer of an agent, running or finished. */
export interface LettaRun {
  readonly id: string;
  readonly agentId: string;
  readonly conversationId: string | null;
  readonly background: boolean;
  readonly maxSteps: number;
  /** The message to the agent; `null` for a run that continues after an approval. */
  readonly prompt: string | null;
  /** Ids of the messages that it answers. */
  readonly otids: readonly string[];
  readonly createdAt: string;
  /** `cancelled` as soon as it is cancelled, although its step still finishes. */
  status: NonNullable<Run['status']>;
  stopReason: StopReasonType | null;
  completedAt: string | null;
  readonly usage: { steps: number; promptTokens: number; completionTokens: number };
  /** The frames of its stream, in order; the first has sequence number 1. */
  readonly frames: string[];
  /** Its messages, stored or not. */
  readonly said: Message[];
  error: RunFailure | undefined;
  /** Whether the stream is complete. */
  over: boolean;
  /** Set when its server process was killed: its status never changes, and nothing is added. */
  dead: boolean;
  /** Aborts when its server stops. */
  readonly stopped: AbortController;
  /** Called after each frame, at the end, and when the readers' connections are to be cut. */
  readonly listeners: Set<(event: 'more' | 'cut') => void>;
}

/** The prefix of the ids of a kind of object. */
export type IdPrefix = 'agent' | 'message' | 'run' | 'step' | 'tool' | 'call' | 'mcp_server' | 'conv' | 'ping';

/** Ids in Letta's format, `agent-00000000-0000-4000-8000-000000000001`: formally of version 4, but counted, so that tests are reproducible. */
function createIds(): (prefix: IdPrefix) => string {
  let last = 0;
  return (prefix) => {
    last += 1;
    return `${prefix}-00000000-0000-4000-8000-${last.toString(16).padStart(12, '0')}`;
  };
}

/** Whether the server accepts the text as the id of such an object; otherwise it responds with 422. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return (
    text.startsWith(`${prefix}-`) && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text.slice(prefix.length + 1))
  );
}

/** The complete state of the server. */
export interface World {
  readonly clock: Clock;
  readonly id: (prefix: IdPrefix) => string;
  readonly agents: Map<string, LettaAgent>;
  readonly runs: Map<string, LettaRun>;
  readonly tools: Map<string, StandInTool>;
  readonly servers: Map<string, McpServer>;
  /** The script of agents without their own. */
  readonly script: AgentScript | undefined;
  /** Delay before an agent begins to answer, like that of a model. */
  readonly latencyMs: number;
  /** Whether there are background runs; a self-hosted server without Redis has none. */
  readonly background: boolean;
  /** Whether there are routes for conversations, of which `default` is the agent's own; older servers have none. */
  readonly conversations: boolean;
  /** Whether a message during a pending approval gets an error in the stream, as from self-hosted servers, or a 409. */
  readonly conflict: 'refused' | 'streamed';
  readonly version: string;
  /** Runs that are not over, including cancelled ones. */
  readonly active: Set<LettaRun>;
  /** Scripts that hang. */
  readonly standing: Pauses;
  /** Called whenever a run begins or ends. */
  readonly watchers: Set<() => void>;
  /** Aborts tool calls when the server closes. */
  readonly closing: AbortController;
}

type WorldOptions = Pick<
  World,
  'clock' | 'script' | 'latencyMs' | 'background' | 'conversations' | 'conflict' | 'version'
>;

export function createWorld(options: WorldOptions): World {
  return {
    ...options,
    id: createIds(),
    agents: new Map(),
    runs: new Map(),
    tools: new Map(),
    servers: new Map(),
    active: new Set(),
    standing: createPauses(),
    watchers: new Set(),
    closing: new AbortController(),
  };
}

/** A time in ISO 8601, in the server's format. */
export function timestamp(world: World): string {
  return new Date(world.clock.now()).toISOString();
}
