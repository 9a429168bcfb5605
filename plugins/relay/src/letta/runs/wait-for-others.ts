import { createDeadline } from './deadline.js';
import { isOver, overRun } from './follow.js';
import type { Talk } from './talk.js';

/**
 * Before an agent is first told something, waits for what an earlier process has made it do: two runs at once may interleave. Not for ever,
 * and not at the cost of this prompt's time: a server that went down in the middle of a run may show it as under way to the end of days.
 */
export async function waitForOthers(talk: Talk): Promise<void> {
  const { server, prompt, deadline } = talk;
  if (server.free.has(prompt.agentId)) return;
  await deadline.outside(() => waitPatiently(talk));
  deadline.signal.throwIfAborted();
  server.free.add(prompt.agentId);
}

async function waitPatiently({ client, clock, prompt, stopped, log }: Talk): Promise<void> {
  const { agentId } = prompt;
  const patience = createDeadline(clock, prompt.timeoutMs, stopped);
  const { signal } = patience;
  try {
    const { items } = await client.runs.list({ agent_id: agentId, active: true, limit: 20 }, { signal });
    for (const { id } of items.filter((run) => !isOver(run))) {
      log.info('waiting for a run that an agent was in', { agentId, runId: id });
      await overRun(client, clock, id, signal);
    }
  } catch (error) {
    if (patience.reason !== 'timeout') throw error;
    log.warn('an agent is told something although a run of it does not end', { agentId });
  } finally {
    patience.end();
  }
}
