import { z } from '@cinnabar/sdk';
import type {
  ApprovalRequestMessage,
  AssistantMessage,
  LettaStreamingResponse,
  Message,
  ToolCall,
  ToolCallDelta,
  ToolCallMessage,
} from '@letta-ai/letta-client/resources/agents/messages';
import type { ToolReturnMessage } from '@letta-ai/letta-client/resources/tools';
import { isFailure, isRunError, RunFailed, stoppedBy, troubleOf } from '../errors.js';
import { type AgentEvent, hasActed, keep, type Next, type Talk, type ToolUse } from './prompt-context.js';

/** Hears a run out. */
export async function listen(talk: Talk, stream: AsyncIterable<LettaStreamingResponse>): Promise<Next> {
  const { heard, deadline } = talk;
  heard.stopReason = undefined;
  try {
    for await (const chunk of stream) await take(talk, chunk);
  } catch (error) {
    deadline.signal.throwIfAborted();
    if (!isRunError(error)) return lost(talk, error);
    const { kind } = troubleOf(error);
    if (kind === 'pending-approval' || kind === 'nothing-pending') throw error;
    return failed(talk, error);
  }
  // Whoever aborts a stream makes it end without an error.
  deadline.signal.throwIfAborted();
  if (heard.stopReason === undefined) return lost(talk, new Error('the stream ended before the run did'));
  if (heard.stopReason === 'requires_approval' && heard.waiting.length > 0) return { do: 'decide', asked: true };
  if (heard.stopReason === 'cancelled') return givenUp(new Error('the run was cancelled at the server'));
  if (isFailure(heard.stopReason)) return failed(talk, new RunFailed(heard.runId, { error_type: heard.stopReason }));
  return { do: 'end' };
}

async function take(talk: Talk, chunk: LettaStreamingResponse): Promise<void> {
  const { log, prompt } = talk;
  for (const event of hear(talk.heard, chunk)) {
    if (event.kind === 'reasoning') log.debug('the agent reasons', { agentId: prompt.agentId, text: event.text });
    if (event.kind === 'assistant') log.debug('the agent says', { agentId: prompt.agentId, text: event.text });
    if (event.kind === 'tool-call') {
      log.info('the agent calls a tool', { agentId: prompt.agentId, tool: event.name });
      if (!talk.record.acted) await keep(talk, { acted: true });
    }
    if (event.kind === 'tool-return' && !event.ok) {
      log.warn('a tool of the agent failed', { agentId: prompt.agentId, tool: event.name, text: event.text });
    }
    talk.tell(event);
  }
}

/** The run goes on without a listener: with its id it can be found again. */
function lost(talk: Talk, error: unknown): Next {
  talk.losses += 1;
  if (talk.losses > 3) return { do: 'fail', error };
  talk.log.warn('lost the connection to the agent', { agentId: talk.prompt.agentId, runId: talk.heard.runId, error });
  return { do: 'reattach' };
}

function failed(talk: Talk, error: unknown): Next {
  const isOver = hasActed(talk) || talk.heard.texts.length > 0;
  return isOver ? givenUp(error) : { do: 'fail', error };
}

export function givenUp(error: unknown): Next {
  return { do: 'give-up', error, sentence: stoppedBy(error) };
}

/** A call that waits for somebody's decision. */
export interface WaitingCall {
  readonly callId: string;
  readonly name: string;
  /** The arguments as the model wrote them. */
  readonly input: string;
}

/** What was heard of an agent about one prompt, over all its runs. */
export interface Heard {
  readonly texts: string[];
  /** By the call's id. */
  readonly tools: Map<string, ToolUse>;
  /** Requests of the run's end that nobody has answered. */
  waiting: WaitingCall[];
  runId: string | undefined;
  /** Number of the last chunk of that run; 0 when they are not numbered. */
  lastSequence: number;
  steps: number;
  tokens: number;
  stopReason: string | undefined;
}

export function nothingHeard(): Heard {
  return {
    texts: [],
    tools: new Map(),
    waiting: [],
    runId: undefined,
    lastSequence: 0,
    steps: 0,
    tokens: 0,
    stopReason: undefined,
  };
}

/** Takes in a chunk of a stream, or a message of the history. @returns what happened; nothing for what is of no interest */
export function hear(heard: Heard, chunk: LettaStreamingResponse | Message): readonly AgentEvent[] {
  if ('run_id' in chunk && typeof chunk.run_id === 'string') begins(heard, chunk.run_id);
  if ('seq_id' in chunk && typeof chunk.seq_id === 'number')
    heard.lastSequence = Math.max(heard.lastSequence, chunk.seq_id);
  switch (chunk.message_type) {
    case 'reasoning_message':
      return [{ kind: 'reasoning', text: chunk.reasoning }];
    case 'hidden_reasoning_message':
      return [{ kind: 'reasoning', text: null }];
    case 'tool_call_message':
      return callsIn(chunk).map((call) => {
        heard.tools.set(call.callId, { callId: call.callId, name: call.name, ok: undefined });
        return { kind: 'tool-call', ...call };
      });
    case 'tool_return_message':
      return returnsIn(chunk).map((one) => returned(heard, one, chunk.name));
    case 'assistant_message': {
      const text = textOf(chunk.content);
      heard.texts.push(text);
      return [{ kind: 'assistant', text }];
    }
    case 'approval_request_message':
      heard.waiting = callsIn(chunk);
      return heard.waiting.map(({ callId, name }) => ({ kind: 'approval', callId, name }));
    case 'ping':
      return [{ kind: 'ping' }];
    case 'usage_statistics':
      heard.steps += chunk.step_count ?? 0;
      heard.tokens += chunk.total_tokens ?? 0;
      return [{ kind: 'usage', steps: chunk.step_count ?? 0, tokens: chunk.total_tokens ?? 0 }];
    case 'error_message':
      return [{ kind: 'error', type: chunk.error_type, message: chunk.message }];
    case 'stop_reason':
      heard.stopReason = chunk.stop_reason;
      return [{ kind: 'stop', reason: chunk.stop_reason }];
    default:
      return [];
  }
}

function begins(heard: Heard, runId: string): void {
  if (heard.runId === runId) return;
  heard.runId = runId;
  heard.lastSequence = 0;
}

interface Return {
  readonly tool_call_id: string;
  readonly status: string;
  readonly text: string;
  readonly stderr: readonly string[] | null;
}

const returnOf = z.object({
  tool_call_id: z.string(),
  status: z.string(),
  tool_return: z.unknown(),
  stderr: z.array(z.string()).nullish(),
});

/** The outcomes of all calls of a step come in one message, which names the first of them again for those that know no list. */
function returnsIn(message: ToolReturnMessage): readonly Return[] {
  const several: readonly unknown[] = message.tool_returns ?? [];
  const read = (several.length > 0 ? several : [message]).flatMap((one) => returnOf.safeParse(one).data ?? []);
  return read.map(({ tool_call_id, status, tool_return, stderr }) => {
    const text = typeof tool_return === 'string' ? tool_return : JSON.stringify(tool_return ?? '');
    return { tool_call_id, status, text, stderr: stderr ?? null };
  });
}

function returned(
  heard: Heard,
  { tool_call_id, status, text, stderr }: Return,
  name: string | null | undefined,
): AgentEvent {
  const ok = status === 'success';
  // Of a call that was approved, the request was the last that was heard.
  const known =
    heard.tools.get(tool_call_id)?.name ?? heard.waiting.find(({ callId }) => callId === tool_call_id)?.name;
  const use = { callId: tool_call_id, name: known ?? name ?? 'unknown', ok };
  heard.tools.set(tool_call_id, use);
  heard.waiting = heard.waiting.filter(({ callId }) => callId !== tool_call_id);
  return { kind: 'tool-return', ...use, text: ok || stderr === null || stderr.length === 0 ? text : stderr.join('\n') };
}

/** Newer servers send a list, older ones a single call; both send the single one for those that know no list. */
function callsIn({ tool_call, tool_calls }: ToolCallMessage | ApprovalRequestMessage): WaitingCall[] {
  const calls: readonly (ToolCall | ToolCallDelta)[] =
    Array.isArray(tool_calls) && tool_calls.length > 0 ? tool_calls : [tool_call];
  return calls.flatMap(({ tool_call_id, name, arguments: input }) =>
    typeof tool_call_id === 'string' && typeof name === 'string'
      ? [{ callId: tool_call_id, name, input: input ?? '' }]
      : [],
  );
}

function textOf(content: AssistantMessage['content']): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('\n');
}
