import type { Run } from '@letta-ai/letta-client/resources/agents/messages';
import { isOver, overRun, pause, restOf } from './follow.js';
import { hear, nothingHeard } from './heard.js';
import { type Past, pastOf } from './history.js';
import { givenUp, listen } from './listen.js';
import type { Next, Talk } from './talk.js';

/** How far apart this clock and the server's may be. */
const CLOCKS_APART_MS = 60_000;
const REATTACH_MS = 500;

/** Reads on where the connection was lost; where that cannot be, waits until the run is over. */
export async function reattach(talk: Talk): Promise<Next> {
  const { client, clock, server, heard, deadline } = talk;
  const { runId } = heard;
  if (runId === undefined) return { do: 'look' };
  await pause(clock, REATTACH_MS * (talk.losses - 1), deadline.signal);
  if (server.background && heard.lastSequence > 0) {
    return listen(talk, await restOf(client, runId, heard.lastSequence, deadline.signal));
  }
  await overRun(client, clock, runId, deadline.signal);
  return { do: 'look' };
}

/** Finds out what has become of a prompt that may have been sent: heard out, under way, waiting for an approval, or never arrived. */
export async function look(talk: Talk): Promise<Next> {
  const { client, clock, prompt, record, deadline } = talk;
  const past = await pastOf(client, prompt.agentId, record.otid, deadline.signal);
  if (past !== undefined) return takeUp(talk, past);
  const since = record.at - CLOCKS_APART_MS;
  const { items } = await client.runs.list(
    { agent_id: prompt.agentId, active: true, limit: 20 },
    { signal: deadline.signal },
  );
  const running = items.find((run) => !isOver(run) && Date.parse(run.created_at ?? '') >= since);
  if (running === undefined) return notThere(talk);
  // A server keeps a message at the end of its first step: until then only the run shows that it is there.
  await overRun(client, clock, running.id, deadline.signal);
  const arrived = await pastOf(client, prompt.agentId, record.otid, deadline.signal);
  return arrived === undefined ? notThere(talk) : { do: 'look' };
}

/** The server knows nothing of it. An agent that was seen at work all the same is not made to do it twice. */
function notThere({ record }: Talk): Next {
  return record.acted ? givenUp(new Error('the agent was at work, but the server has not kept it')) : { do: 'send' };
}

async function takeUp(talk: Talk, past: Past): Promise<Next> {
  const { client, clock, prompt, record, deadline } = talk;
  let run: Run | undefined;
  if (past.runId !== undefined) {
    talk.heard.runId = past.runId;
    run = await overRun(client, clock, past.runId, deadline.signal);
  }
  const whole = (await pastOf(client, prompt.agentId, record.otid, deadline.signal)) ?? past;
  // Another run may have followed: a decision that somebody else has made.
  if (whole.runId !== past.runId) return { do: 'look' };
  const { steps, tokens } = talk.heard;
  const heard = { ...nothingHeard(), steps, tokens, runId: past.runId };
  for (const message of whole.messages) hear(heard, message);
  talk.heard = heard;
  heard.stopReason = run?.stop_reason ?? 'end_turn';
  if (heard.waiting.length > 0) return { do: 'decide', asked: talk.decisions.size > 0 };
  if (run?.status === 'failed' || run?.status === 'cancelled') {
    return givenUp(new Error(`the run ${run.id} was ${run.status}: ${JSON.stringify(run.metadata ?? {})}`));
  }
  await count(talk, whole);
  return { do: 'end' };
}

/** What it has used, which the history does not say. */
async function count(talk: Talk, { messages, runId }: Past): Promise<void> {
  const { client, heard, deadline } = talk;
  if (heard.tokens > 0) return;
  const runs = new Set([...messages.map(({ run_id }) => run_id), runId].filter((id) => typeof id === 'string'));
  for (const id of runs) {
    try {
      const usage = await client.runs.usage.retrieve(id, { signal: deadline.signal });
      heard.tokens += usage.total_tokens ?? 0;
    } catch (error) {
      deadline.signal.throwIfAborted();
      talk.log.debug('a run does not say what it has used', { runId: id, error });
    }
  }
}
