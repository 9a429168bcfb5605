import type { AgentEnvironmentVariable, AgentState } from '@letta-ai/letta-client/resources/agents/agents';
import type {
  ApprovalRequestMessage,
  ApprovalResponseMessage,
  AssistantMessage,
  HiddenReasoningMessage,
  LettaResponse,
  LettaStreamingResponse,
  Message,
  ReasoningMessage,
  Run,
  ToolCall,
  ToolCallMessage,
  UserMessage,
} from '@letta-ai/letta-client/resources/agents/messages';
import type { StreamableHTTPMcpServer } from '@letta-ai/letta-client/resources/mcp-servers/mcp-servers';
import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';
import type { Tool, ToolReturnMessage } from '@letta-ai/letta-client/resources/tools';
import {
  type Decision,
  type LettaAgent,
  type LettaRun,
  type McpServer,
  type RunFailure,
  type StandInTool,
  timestamp,
  type World,
} from './state.js';

/** An agent in the server's format. Parts that `include` does not request are omitted; newer servers do so for the pending approval. */
export function agentState(agent: LettaAgent, include: readonly string[] = []): AgentState {
  const state = {
    id: agent.id,
    agent_type: 'letta_v1_agent',
    name: agent.name,
    system: 'You are an agent that lives in a guild.',
    llm_config: { context_window: 32_000, model: 'stand-in', model_endpoint_type: 'openai' },
    blocks: [],
    memory: { blocks: [] },
    sources: [],
    tags: [],
    tools: agent.tools.map(toolState),
    created_at: agent.createdAt,
    message_ids: agent.own.messages.map(({ id }) => id),
  } satisfies AgentState;
  return {
    ...state,
    ...(include.includes('agent.pending_approval') ? { pending_approval: pendingOf(agent) } : {}),
    ...(include.includes('agent.secrets') ? { secrets: secretsOf(agent) } : {}),
  };
}

function secretsOf({ id, secrets }: LettaAgent): AgentEnvironmentVariable[] {
  return Object.entries(secrets).map(([key, value]) => ({ agent_id: id, key, value }));
}

function pendingOf({ own }: LettaAgent): ApprovalRequestMessage | null {
  const found = own.messages.find(({ id }) => id === own.pending?.messageId);
  return found?.message_type === 'approval_request_message' ? found : null;
}

/** A tool in the server's format. */
export function toolState({ id, name, description, inputSchema, home }: StandInTool): Tool {
  const local = typeof home === 'function';
  return {
    id,
    name,
    description,
    json_schema: { name, description, parameters: inputSchema },
    tool_type: local ? 'custom' : 'external_mcp',
    tags: local ? [] : [`mcp:${home.serverName}`],
    metadata_: local ? {} : { mcp: { server_name: home.serverName, server_id: home.serverId } },
    default_requires_approval: null,
    return_char_limit: 50_000,
  } satisfies Tool;
}

/** A registered server in the API's format, including its token. */
export function mcpServerState(server: McpServer): StreamableHTTPMcpServer {
  return {
    mcp_server_type: 'streamable_http',
    id: server.id,
    server_name: server.name,
    server_url: server.url,
    auth_header: server.authHeader,
    auth_token: server.authToken,
    custom_headers: { ...server.customHeaders },
  } satisfies StreamableHTTPMcpServer;
}

/** A run in the server's format. */
export function runState(run: LettaRun): Run {
  return {
    id: run.id,
    agent_id: run.agentId,
    background: run.background,
    conversation_id: run.conversationId,
    created_at: run.createdAt,
    completed_at: run.completedAt,
    status: run.status,
    stop_reason: run.stopReason,
    metadata: {
      run_type: 'send_message',
      ...(run.error === undefined ? {} : { error: errorMessage(run, run.error) }),
    },
  } satisfies Run;
}

/** The response to a request that is not streamed, sent at the end of the run. */
export function wholeResponse(run: LettaRun): LettaResponse {
  const messages: Message[] = [...run.said];
  return {
    messages,
    stop_reason: { message_type: 'stop_reason', stop_reason: run.stopReason ?? 'end_turn' },
    usage: usage(run),
  } satisfies LettaResponse;
}

/** The calls of one step. */
export type Calls = readonly [ToolCall, ...ToolCall[]];

/** A call with its outcome. */
export interface Returned {
  readonly call: ToolCall;
  readonly outcome: { readonly status: 'success' | 'error'; readonly text: string };
}

/** An agent's message, as it is streamed and stored. */
export type SaidMessage =
  | ReasoningMessage
  | HiddenReasoningMessage
  | AssistantMessage
  | ToolCallMessage
  | ApprovalRequestMessage
  | ToolReturnMessage;

/** The common fields of all messages of a run. */
function frame(world: World, run: LettaRun) {
  return { id: world.id('message'), date: timestamp(world), run_id: run.id, otid: null };
}

export function userMessage(world: World, run: LettaRun, content: string, otid: string | null): UserMessage {
  return { ...frame(world, run), message_type: 'user_message', content, otid } satisfies UserMessage;
}

export function reasoning(world: World, run: LettaRun, text: string): ReasoningMessage {
  const source = 'reasoner_model';
  return {
    ...frame(world, run),
    message_type: 'reasoning_message',
    reasoning: text,
    source,
  } satisfies ReasoningMessage;
}

export function hiddenReasoning(world: World, run: LettaRun): HiddenReasoningMessage {
  const message = { ...frame(world, run), message_type: 'hidden_reasoning_message', state: 'redacted' } as const;
  return message satisfies HiddenReasoningMessage;
}

export function assistant(world: World, run: LettaRun, content: string): AssistantMessage {
  return { ...frame(world, run), message_type: 'assistant_message', content } satisfies AssistantMessage;
}

/** The calls of one step. `tool_call` repeats the first one, for clients that do not support `tool_calls`. */
export function toolCall(world: World, run: LettaRun, calls: Calls): ToolCallMessage {
  const message = { ...frame(world, run), tool_call: calls[0], tool_calls: [...calls] };
  return { ...message, message_type: 'tool_call_message' } satisfies ToolCallMessage;
}

export function approvalRequest(world: World, run: LettaRun, calls: Calls): ApprovalRequestMessage {
  const message = { ...frame(world, run), tool_call: calls[0], tool_calls: [...calls] };
  return { ...message, message_type: 'approval_request_message' } satisfies ApprovalRequestMessage;
}

/** The decisions as the history stores them, without an otid. */
export function approvalResponse(
  world: World,
  run: LettaRun,
  calls: readonly ToolCall[],
  decisions: readonly Decision[],
): ApprovalResponseMessage {
  const { otid: _, ...base } = frame(world, run);
  return {
    ...base,
    message_type: 'approval_response_message',
    approvals: calls.map(({ tool_call_id }, index) => ({
      type: 'approval',
      tool_call_id,
      approve: decisions[index]?.approve === true,
      reason: decisions[index]?.reason ?? null,
    })),
  } satisfies ApprovalResponseMessage;
}

/** The outcomes of one step's calls in one message. It repeats the first outcome, for clients that do not support lists. */
export function toolReturns(world: World, run: LettaRun, returned: readonly Returned[]): ToolReturnMessage {
  const all = returned.map(({ call: { tool_call_id }, outcome: { status, text } }) => {
    const stderr = status === 'error' ? [text] : null;
    return { type: 'tool' as const, status, tool_call_id, tool_return: text, stdout: null, stderr };
  });
  const [first] = all;
  if (first === undefined) throw new Error('a step without calls has nothing to return');
  const { type: _, ...alone } = first;
  return {
    ...frame(world, run),
    message_type: 'tool_return_message',
    name: returned[0]?.call.name ?? null,
    ...alone,
    tool_returns: all,
  } satisfies ToolReturnMessage;
}

export function ping(world: World, run: LettaRun): LettaStreamingResponse.LettaPing {
  const { otid: _, ...base } = frame(world, run);
  return { ...base, id: world.id('ping'), message_type: 'ping' } satisfies LettaStreamingResponse.LettaPing;
}

export function stopReason(stop_reason: StopReasonType): LettaStreamingResponse.LettaStopReason {
  return { message_type: 'stop_reason', stop_reason } satisfies LettaStreamingResponse.LettaStopReason;
}

export function usage({ usage, id }: LettaRun): LettaStreamingResponse.LettaUsageStatistics {
  return {
    message_type: 'usage_statistics',
    step_count: usage.steps,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    run_ids: [id],
  } satisfies LettaStreamingResponse.LettaUsageStatistics;
}

export function errorMessage(run: LettaRun, failure: RunFailure): LettaStreamingResponse.LettaErrorMessage {
  const { type: error_type, message, detail } = failure;
  const chunk = { message_type: 'error_message', run_id: run.id, error_type, message, detail } as const;
  return chunk satisfies LettaStreamingResponse.LettaErrorMessage;
}

/** The text of the content parts of a tool call's outcome. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts: readonly unknown[] = content;
  return parts
    .flatMap((part) => (typeof part === 'object' && part !== null && 'text' in part ? [String(part.text)] : []))
    .join('\n');
}

/** An approximate number of tokens of a text. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
