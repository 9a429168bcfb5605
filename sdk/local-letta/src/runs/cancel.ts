import { approvalResponse, toolReturns } from '../payload/chunks.js';
import type { LettaAgent, Thread } from '../state/agent.js';
import type { LettaRun } from '../state/run.js';
import { timestamp, type World } from '../state/world.js';

const DENIAL =
  'Error: request to call tool denied. User reason: The user cancelled the request, so the tool call was denied.';

/**
 * Marks a run as cancelled. Its step goes on to the end, the model's answer and the tool call in it included; then it is over. A request
 * for approval that it left is denied, so that the agent takes messages again. A run that is over stays as it is.
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
export function threadOf(agent: LettaAgent, conversationId: string | null): Thread | undefined {
  return conversationId === null ? agent.own : agent.conversations.get(conversationId);
}
