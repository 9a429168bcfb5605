import { approvalRequest, approvalResponse, toolReturns } from '../payload/chunks.js';
import { createRun } from '../runs/start.js';
import { finish } from '../runs/stream.js';
import type { LettaAgent } from '../state/agent.js';
import type { World } from '../state/world.js';

/** Leaves the agent as a client does that went away when it was asked for an approval. Once decided, nothing else happens. */
export function leaveOrphan(
  world: World,
  agent: LettaAgent,
  name: string,
  input: Readonly<Record<string, unknown>>,
): void {
  const thread = agent.own;
  const run = createRun(world, agent, thread, { background: false, pings: false, maxSteps: 50, otids: [] }, null);
  const call = { tool_call_id: world.id('call'), name, arguments: JSON.stringify(input) };
  const request = approvalRequest(world, run, [call]);
  thread.messages.push(request);
  thread.pending = {
    messageId: request.id,
    calls: [call],
    resume(runId, decisions) {
      const next = world.runs.get(runId);
      const [decision] = decisions ?? [];
      if (next === undefined || decision === undefined) return;
      const outcome = decision.approve
        ? ({ status: 'success', text: 'Done.' } as const)
        : ({
            status: 'error',
            text: `Error: request to call tool denied. User reason: ${decision.reason ?? 'None'}`,
          } as const);
      thread.messages.push(approvalResponse(world, next, [call], [decision]));
      thread.messages.push(toolReturns(world, next, [{ call, outcome }]));
      finish(world, next, 'end_turn');
    },
  };
  finish(world, run, 'requires_approval');
}
