import type { LettaStreamingResponse } from '@letta-ai/letta-client/resources/agents/messages';
import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';
import { approvalResponse, errorMessage, stopReason, toolReturns, usage } from '../payload.js';
import { type LettaAgent, type LettaRun, type RunFailure, type Thread, timestamp, type World } from '../state.js';

/** Appends a chunk to the run's stream. Only chunks of background runs are numbered. */
export function emit(run: LettaRun, chunk: LettaStreamingResponse): void {
  const numbered = run.background && 'date' in chunk ? { ...chunk, seq_id: run.frames.length + 1 } : chunk;
  put(run, `data: ${JSON.stringify(numbered)}\n\n`);
}

const COMPLETED: ReadonlySet<StopReasonType> = new Set(['end_turn', 'max_steps', 'tool_rule', 'requires_approval']);

/** Ends a run. A cancelled run stays cancelled, whatever the result of its last step. An error is sent as an event of that name. */
export function finish(world: World, run: LettaRun, ended: StopReasonType, failure?: RunFailure): void {
  if (run.over || run.dead) return;
  const isCancelled = run.status === 'cancelled';
  const reason = isCancelled ? 'cancelled' : ended;
  const error = isCancelled ? undefined : failure;
  run.stopReason = reason;
  if (!isCancelled) run.status = error === undefined && COMPLETED.has(reason) ? 'completed' : 'failed';
  run.error = error;
  run.completedAt ??= timestamp(world);
  emit(run, stopReason(reason));
  if (error !== undefined) put(run, `event: error\ndata: ${JSON.stringify(errorMessage(run, error))}\n\n`);
  else if (!isCancelled) emit(run, usage(run));
  run.over = true;
  world.active.delete(run);
  put(run, 'data: [DONE]\n\n');
  for (const watch of [...world.watchers]) watch();
}

function put(run: LettaRun, frame: string): void {
  run.frames.push(frame);
  for (const tell of [...run.listeners]) tell('more');
}

const DENIAL =
  'Error: request to call tool denied. User reason: The user cancelled the request, so the tool call was denied.';

/**
 * Marks a run as cancelled. Its step continues to the end, including the model's answer and the tool call; then the run is over. A pending approval request is
 * denied, so that the agent accepts messages again. A run that is over is not changed.
 */
export function cancelRun(world: World, agent: LettaAgent, run: LettaRun): void {
  const isWaiting = run.stopReason === 'requires_approval';
  if (run.stopReason !== null && !isWaiting) return;
  run.status = 'cancelled';
  run.stopReason = 'cancelled';
  run.completedAt = timestamp(world);
  const thread = threadOf(agent, run.conversationId);
  const { pending } = thread ?? {};
  if (thread === undefined || pending === undefined || !isWaiting) return;
  const decisions = pending.calls.map(() => ({ approve: false, reason: null }));
  const denied = pending.calls.map((call) => ({ call, outcome: { status: 'error' as const, text: DENIAL } }));
  thread.messages.push(approvalResponse(world, run, pending.calls, decisions), toolReturns(world, run, denied));
  thread.pending = undefined;
  thread.decided = pending.calls.map(({ tool_call_id }) => tool_call_id);
  pending.resume(run.id, null);
}

/** `undefined` when there is no such conversation. */
function threadOf(agent: LettaAgent, conversationId: string | null): Thread | undefined {
  return conversationId === null ? agent.own : agent.conversations.get(conversationId);
}

/** Resolves when the run is over. */
export function over(run: LettaRun): Promise<void> {
  if (run.over) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (!run.over) return;
      run.listeners.delete(look);
      resolve();
    };
    run.listeners.add(look);
  });
}
