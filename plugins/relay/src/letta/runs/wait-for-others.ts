import { isOver, overRun } from './follow.js';
import type { Talk } from './talk.js';

/** Before an agent is first told something, waits for what an earlier process has made it do: two runs at once may interleave. */
export async function waitForOthers(talk: Talk): Promise<void> {
  const { client, clock, server, prompt, deadline, log } = talk;
  const { agentId } = prompt;
  if (server.free.has(agentId)) return;
  const { items } = await client.runs.list({ agent_id: agentId, active: true, limit: 20 }, { signal: deadline.signal });
  for (const { id } of items.filter((run) => !isOver(run))) {
    log.info('waiting for a run that an agent was in', { agentId, runId: id });
    await overRun(client, clock, id, deadline.signal);
  }
  server.free.add(agentId);
}
