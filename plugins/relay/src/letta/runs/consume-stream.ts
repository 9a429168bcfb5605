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
import { countMessages, isOver, POLL_MS, pause, type RunMark, type ServerFindings, serializes } from '../client.js';
import { isFailure, isRunError, RunFailed, stoppedBy, troubleOf } from '../errors.js';
import {
  type AgentEvent,
  hasActed,
  type Next,
  type PromptContext,
  saveRecord,
  type ToolUse,
} from './prompt-context.js';

/** Reads a run to its end. */
export async function consumeStream(
  context: PromptContext,
  stream: AsyncIterable<LettaStreamingResponse>,
): Promise<Next> {
  const { state, deadline } = context;
  state.stopReason = undefined;
  try {
    for await (const chunk of stream) await take(context, chunk);
  } catch (error) {
    deadline.signal.throwIfAborted();
    if (!isRunError(error)) return lost(context, error);
    const { kind } = troubleOf(error);
    if (kind === 'pending-approval' || kind === 'nothing-pending') throw error;
    return failed(context, error);
  }
  // The client ends an aborted stream without an error.
  deadline.signal.throwIfAborted();
  if (state.stopReason === undefined) return lost(context, new Error('the stream ended before the run did'));
  if (state.stopReason === 'requires_approval' && state.waiting.length > 0) return { do: 'decide', asked: true };
  if (state.stopReason === 'cancelled') return givenUp(new Error('the run was cancelled at the server'));
  if (isFailure(state.stopReason)) return failed(context, new RunFailed(state.runId, { error_type: state.stopReason }));
  return { do: 'end' };
}

async function take(context: PromptContext, chunk: LettaStreamingResponse): Promise<void> {
  const { log, prompt } = context;
  for (const event of applyChunk(context.state, chunk)) {
    if (event.kind === 'reasoning') log.debug('the agent reasons', { agentId: prompt.agentId, text: event.text });
    if (event.kind === 'assistant') log.debug('the agent says', { agentId: prompt.agentId, text: event.text });
    if (event.kind === 'tool-call') {
      log.info('the agent calls a tool', { agentId: prompt.agentId, tool: event.name });
      if (!context.record.acted) await saveRecord(context, { acted: true });
    }
    if (event.kind === 'tool-return' && !event.ok) {
      log.warn('a tool of the agent failed', { agentId: prompt.agentId, tool: event.name, text: event.text });
    }
    context.tell(event);
  }
}

/** The next step after a lost connection: the run continues at the server, and is found by its id. */
function lost(context: PromptContext, error: unknown): Next {
  context.losses += 1;
  if (context.losses > 3) return { do: 'fail', error };
  context.log.warn('lost the connection to the agent', {
    agentId: context.prompt.agentId,
    runId: context.state.runId,
    error,
  });
  return { do: 'reattach' };
}

function failed(context: PromptContext, error: unknown): Next {
  const isOver = hasActed(context) || context.state.texts.length > 0;
  return isOver ? givenUp(error) : { do: 'fail', error };
}

export function givenUp(error: unknown): Next {
  return { do: 'give-up', error, sentence: stoppedBy(error) };
}

/** A call that waits for a decision. */
export interface WaitingCall {
  readonly callId: string;
  readonly name: string;
  /** The arguments as the model wrote them. */
  readonly input: string;
}

/** The received output of an agent for one prompt, over all its runs. */
export interface StreamState {
  readonly texts: string[];
  /** By the call's id. */
  readonly tools: Map<string, ToolUse>;
  /** Calls at the end of the run that wait for a decision. */
  waiting: WaitingCall[];
  runId: string | undefined;
  /** Number of that run's latest chunk; 0 when chunks are not numbered. */
  lastSequence: number;
  steps: number;
  tokens: number;
  stopReason: string | undefined;
}

export function createStreamState(): StreamState {
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

/** Adds a chunk of a stream, or a message of the history. @returns the resulting events; none for irrelevant chunks */
export function applyChunk(state: StreamState, chunk: LettaStreamingResponse | Message): readonly AgentEvent[] {
  if ('run_id' in chunk && typeof chunk.run_id === 'string') begins(state, chunk.run_id);
  if ('seq_id' in chunk && typeof chunk.seq_id === 'number')
    state.lastSequence = Math.max(state.lastSequence, chunk.seq_id);
  switch (chunk.message_type) {
    case 'reasoning_message':
      return [{ kind: 'reasoning', text: chunk.reasoning }];
    case 'hidden_reasoning_message':
      return [{ kind: 'reasoning', text: null }];
    case 'tool_call_message':
      return callsIn(chunk).map((call) => {
        state.tools.set(call.callId, { callId: call.callId, name: call.name, ok: undefined });
        return { kind: 'tool-call', ...call };
      });
    case 'tool_return_message':
      return returnsIn(chunk).map((one) => returned(state, one, chunk.name));
    case 'assistant_message': {
      const text = textOf(chunk.content);
      state.texts.push(text);
      return [{ kind: 'assistant', text }];
    }
    case 'approval_request_message':
      state.waiting = callsIn(chunk);
      return state.waiting.map(({ callId, name }) => ({ kind: 'approval', callId, name }));
    case 'ping':
      return [{ kind: 'ping' }];
    case 'usage_statistics':
      state.steps += chunk.step_count ?? 0;
      state.tokens += chunk.total_tokens ?? 0;
      return [{ kind: 'usage', steps: chunk.step_count ?? 0, tokens: chunk.total_tokens ?? 0 }];
    case 'error_message':
      return [{ kind: 'error', type: chunk.error_type, message: chunk.message }];
    case 'stop_reason':
      state.stopReason = chunk.stop_reason;
      return [{ kind: 'stop', reason: chunk.stop_reason }];
    default:
      return [];
  }
}

function begins(state: StreamState, runId: string): void {
  if (state.runId === runId) return;
  state.runId = runId;
  state.lastSequence = 0;
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

/** The outcomes of a step's calls. They come in one message, which repeats the first of them in the format of older clients. */
function returnsIn(message: ToolReturnMessage): readonly Return[] {
  const several: readonly unknown[] = message.tool_returns ?? [];
  const read = (several.length > 0 ? several : [message]).flatMap((one) => returnOf.safeParse(one).data ?? []);
  return read.map(({ tool_call_id, status, tool_return, stderr }) => {
    const text = typeof tool_return === 'string' ? tool_return : JSON.stringify(tool_return ?? '');
    return { tool_call_id, status, text, stderr: stderr ?? null };
  });
}

function returned(
  state: StreamState,
  { tool_call_id, status, text, stderr }: Return,
  name: string | null | undefined,
): AgentEvent {
  const ok = status === 'success';
  // For an approved call, the preceding message was the request.
  const known =
    state.tools.get(tool_call_id)?.name ?? state.waiting.find(({ callId }) => callId === tool_call_id)?.name;
  const use = { callId: tool_call_id, name: known ?? name ?? 'unknown', ok };
  state.tools.set(tool_call_id, use);
  state.waiting = state.waiting.filter(({ callId }) => callId !== tool_call_id);
  return { kind: 'tool-return', ...use, text: ok || stderr === null || stderr.length === 0 ? text : stderr.join('\n') };
}

/** Newer servers send a list, older ones a single call. Newer ones also send the first call separately, for older clients. */
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

/** The time for which a server considers an agent busy with a run, although the run may take longer. */
const LOCKED_MS = 5 * 60_000;

/**
 * Waits for other runs of the agent that the server would not wait for, because two runs at once may interleave: a run of an earlier process, and the last step
 * of a cancelled run. Servers that allow one run at a time do so for `LOCKED_MS` only; after that, a cancelled run is waited for here. The time does not count
 * for the prompt.
 */
export async function waitForOthers(context: PromptContext): Promise<void> {
  const { server, prompt, deadline, client, log, clock } = context;
  const { agentId } = prompt;
  const cancelled = server.cancelled.get(agentId);
  if (serializes(server) && (cancelled === undefined || clock.now() - cancelled.since < LOCKED_MS)) return;
  const isFirst = !serializes(server) && !server.free.has(agentId);
  if (cancelled === undefined && !isFirst) return;
  await deadline.outside(async () => {
    if (cancelled !== undefined) await waitForStep(context, cancelled);
    if (!isFirst) return;
    const { items } = await client.runs.list(
      { agent_id: agentId, active: true, limit: 20 },
      { signal: deadline.signal },
    );
    for (const { id } of items.filter((run) => !isOver(run))) {
      log.info('waiting for a run that an agent was in', { agentId, runId: id });
      while ((await watchRun(context, id)) === 'alive');
    }
  });
  deadline.signal.throwIfAborted();
  server.cancelled.delete(agentId);
  if (isFirst) server.free.add(agentId);
}

/**
 * Waits a moment after the server has refused the prompt because the agent is busy, so that it can be sent again. A run without progress for as long as an
 * agent may work is taken for dead: its server process was killed.
 */
export async function waitForBlocker(context: PromptContext, runId: string | undefined): Promise<void> {
  const { server, prompt, deadline, clock, log } = context;
  const { agentId } = prompt;
  await deadline.outside(async () => {
    const holder = runId ?? '';
    const isNew = context.blocker?.runId !== holder;
    if (isNew) {
      log.info('waiting for a run that an agent is busy with', { agentId, runId });
      context.blocker = await markOf(context, holder);
    }
    const mark = context.blocker ?? (await markOf(context, holder));
    const wasDead = isDead(server, mark);
    context.blocker = wasDead ? mark : await judge(context, mark);
    // No pause when the run has just turned out to be dead; but a dead run that the server still reports leads to one.
    if (!isDead(server, context.blocker) || (wasDead && !isNew)) await pause(clock, POLL_MS, deadline.signal);
  });
  deadline.signal.throwIfAborted();
}

/** Waits for the last step of a cancelled run. The server does not report its end, but stores additional messages. */
async function waitForStep(context: PromptContext, mark: RunMark): Promise<void> {
  const { client, server, clock, prompt, deadline } = context;
  while (!isDead(server, mark) && clock.now() - mark.at < prompt.timeoutMs) {
    if ((await countMessages(client, mark.runId, deadline.signal)) > mark.messages) return;
    await pause(clock, POLL_MS, deadline.signal);
  }
}

/**
 * Whether a run was found to be dead. A server that was killed shows its runs as running forever, like slow ones. Progress distinguishes them: a run that stores
 * no message for as long as an agent may work is dead.
 */
export function isDead({ dead }: ServerFindings, { runId, isDead }: Pick<RunMark, 'runId' | 'isDead'>): boolean {
  return isDead === true || dead.has(runId);
}

/**
 * Whether the server has refused a connection since the prompt's run was last known to be alive. If the server was restarted, the run may be dead; if only its
 * proxy was, the run continues.
 */
export function isDoubtful({ server, aliveAt }: PromptContext): boolean {
  return aliveAt < server.refusedAt;
}

/** Polls a run until it has ended, or for as long as an agent may work: then its progress decides whether it is alive. */
export async function watchRun(context: PromptContext, runId: string): Promise<'over' | 'alive' | 'dead'> {
  const { client, server, clock, deadline } = context;
  const first = await markOf(context, runId);
  for (let mark = first; mark === first && !isDead(server, mark); mark = await judge(context, mark)) {
    if (isOver(await client.runs.retrieve(runId, { signal: deadline.signal }))) return 'over';
    await pause(clock, POLL_MS, deadline.signal);
  }
  return isDead(server, first) ? 'dead' : 'alive';
}

/** Compares a run with an earlier mark after the time that an agent may work; without progress it is dead. */
async function judge(context: PromptContext, mark: RunMark): Promise<RunMark> {
  const { server, prompt, clock, log } = context;
  if (clock.now() - mark.at < prompt.timeoutMs) return mark;
  const now = await markOf(context, mark.runId);
  if (now.messages > mark.messages) return now;
  log.warn('a run of an agent makes no progress, and is taken for dead', { ...mark, agentId: prompt.agentId });
  // Without an id, the next refusal may be about another run.
  if (mark.runId !== '') server.dead.add(mark.runId);
  return { ...mark, isDead: true };
}

async function markOf({ client, clock, deadline: { signal } }: PromptContext, runId: string): Promise<RunMark> {
  const messages = runId === '' ? 0 : await countMessages(client, runId, signal).catch(unlessAborted(signal));
  return { runId, messages, at: clock.now() };
}

/** Counts no messages for a run that the server does not know; rethrows other errors. */
function unlessAborted(signal: AbortSignal) {
  return (error: unknown): number => {
    signal.throwIfAborted();
    if (troubleOf(error).kind === 'unknown-agent') return 0;
    throw error;
  };
}
