import { isOver } from './follow.js';
import { pastOf } from './history.js';
import type { Talk } from './talk.js';

const PATIENCE = { timeout: 5_000 };

/** Cancels the prompt's run at the server, as far as it can be reached. Of a run that nobody has heard of it takes only one that can be no other's. */
export async function cancelAtServer(talk: Talk): Promise<void> {
  const { client, prompt, log } = talk;
  try {
    const runId = talk.heard.runId ?? (await onlyRun(talk));
    if (runId === undefined) return;
    talk.heard.runId = runId;
    await client.agents.messages.cancel(prompt.agentId, { run_ids: [runId] }, PATIENCE);
  } catch (error) {
    log.warn("the agent's run could not be cancelled", { agentId: prompt.agentId, runId: talk.heard.runId, error });
  }
}

/** Whether the server has kept nothing of the prompt, so that it may be sent anew. */
export async function leftNothing({ client, prompt, record }: Talk): Promise<boolean> {
  try {
    const controller = new AbortController();
    return (await pastOf(client, prompt.agentId, record.otid, controller.signal)) === undefined;
  } catch {
    return false;
  }
}

async function onlyRun({ client, prompt, record }: Talk): Promise<string | undefined> {
  const { items } = await client.runs.list({ agent_id: prompt.agentId, active: true, limit: 20 }, PATIENCE);
  const [run, ...others] = items.filter((run) => !isOver(run) && Date.parse(run.created_at ?? '') >= record.at);
  return others.length === 0 ? run?.id : undefined;
}
