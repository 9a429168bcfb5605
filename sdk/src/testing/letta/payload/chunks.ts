import type {
  ApprovalRequestMessage,
  AssistantMessage,
  HiddenReasoningMessage,
  LettaStreamingResponse,
  ReasoningMessage,
  ToolCall,
  ToolCallMessage,
  UserMessage,
} from '@letta-ai/letta-client/resources/agents/messages';
import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';
import type { ToolReturnMessage } from '@letta-ai/letta-client/resources/tools';
import type { LettaRun } from '../state/run.js';
import { timestamp, type World } from '../state/world.js';

/** What an agent says: streamed, and stored. */
export type SaidMessage =
  | ReasoningMessage
  | HiddenReasoningMessage
  | AssistantMessage
  | ToolCallMessage
  | ApprovalRequestMessage
  | ToolReturnMessage;

/** What every message of a run has. */
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

export function toolCall(world: World, run: LettaRun, call: ToolCall): ToolCallMessage {
  const message = { ...frame(world, run), tool_call: call, tool_calls: [call] };
  return { ...message, message_type: 'tool_call_message' } satisfies ToolCallMessage;
}

export function approvalRequest(world: World, run: LettaRun, call: ToolCall): ApprovalRequestMessage {
  const message = { ...frame(world, run), tool_call: call, tool_calls: [call] };
  return { ...message, message_type: 'approval_request_message' } satisfies ApprovalRequestMessage;
}

export function toolReturn(
  world: World,
  run: LettaRun,
  { tool_call_id, name }: ToolCall,
  { status, text }: { readonly status: 'success' | 'error'; readonly text: string },
): ToolReturnMessage {
  const stderr = status === 'error' ? [text] : null;
  return {
    ...frame(world, run),
    message_type: 'tool_return_message',
    name,
    status,
    tool_call_id,
    tool_return: text,
    stdout: null,
    stderr,
    tool_returns: [{ type: 'tool', status, tool_call_id, tool_return: text, stdout: null, stderr }],
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

export function errorMessage(
  run: LettaRun,
  error_type: string,
  message: string,
): LettaStreamingResponse.LettaErrorMessage {
  const chunk = { message_type: 'error_message', run_id: run.id, error_type, message, detail: message } as const;
  return chunk satisfies LettaStreamingResponse.LettaErrorMessage;
}
