import { toolReturn } from '../payload/chunks.js';
import type { LettaAgent, Thread } from '../state/agent.js';
import type { LettaRun } from '../state/run.js';
import type { World } from '../state/world.js';
import { finish } from './stream.js';

/** Ends a run. A request for approval that it left is denied, so that the agent takes messages again. A run that is over stays as it is. */
export function cancelRun(world: World, agent: LettaAgent, run: LettaRun): void {
  if (run.over && run.stopReason !== 'requires_approval') return;
  const thread = threadOf(agent, run.conversationId);
  run.stopped.abort();
  if (run.over) {
    run.status = 'cancelled';
    run.stopReason = 'cancelled';
  } else {
    finish(world, run, 'cancelled');
  }
  const { pending } = thread ?? {};
  if (thread === undefined || pending === undefined) return;
  const text =
    'Error: request to call tool denied. User reason: The user cancelled the request, so the tool call was denied.';
  thread.messages.push(toolReturn(world, run, pending.call, { status: 'error', text }));
  thread.pending = undefined;
  pending.resume(run.id, null);
}

/** `undefined` when there is no such conversation. */
export function threadOf(agent: LettaAgent, conversationId: string | null): Thread | undefined {
  return conversationId === null ? agent.own : agent.conversations.get(conversationId);
}
