import { countMessages, isOver } from './follow.js';
import type { Talk } from './talk.js';

const PATIENCE = { timeout: 5_000 };

/**
 * Cancels the prompt's run at the server, as far as it can be reached. Of a run that nobody has heard of it takes only one that can be no
 * other's. The server only marks it: the model's answer that is under way, and the tool call in it, still happen.
 */
export async function cancelAtServer(talk: Talk): Promise<void> {
  const { client, server, prompt, clock, log } = talk;
  const { agentId } = prompt;
  try {
    const runId = talk.heard.runId ?? (await onlyRun(talk));
    if (runId === undefined) return;
    talk.heard.runId = runId;
    // To cancel it is worth more than to know how far it had come.
    const messages = await countMessages(client, runId, AbortSignal.timeout(PATIENCE.timeout)).catch(() => 0);
    server.cancelled.set(agentId, { runId, messages, at: clock.now(), since: talk.aliveAt });
    await client.agents.messages.cancel(agentId, { run_ids: [runId] }, PATIENCE);
  } catch (error) {
    log.warn("the agent's run could not be cancelled", { agentId, runId: talk.heard.runId, error });
  }
}

async function onlyRun({ client, prompt, record }: Talk): Promise<string | undefined> {
  const { items } = await client.runs.list({ agent_id: prompt.agentId, active: true, limit: 20 }, PATIENCE);
  const [run, ...others] = items.filter((run) => !isOver(run) && Date.parse(run.created_at ?? '') >= record.at);
  return others.length === 0 ? run?.id : undefined;
}
