import { messagesOf } from '../runs/follow.js';
import { hear, nothingHeard, type WaitingCall } from '../runs/heard.js';
import { openStream } from '../runs/send.js';
import type { Talk } from '../runs/talk.js';
import { answerTo, ORPHANED, RESTARTED } from './answer.js';

const MOST_RUNS = 20;

/** Denies what an agent waits for although nobody is going to decide about it: each later message would be refused for it. */
export async function denyOrphans(talk: Talk): Promise<void> {
  const { client, server, store, log, deadline, prompt } = talk;
  const { agentId } = prompt;
  const calls = await waitingAt(talk);
  if (calls.length === 0) return;
  log.warn('denied what the agent was still waiting for', { agentId, tools: calls.map(({ name }) => name) });
  const known = await Promise.all(calls.map(({ callId }) => store.lettaAsked.of(callId).find()));
  const decision = known.some((asked) => asked !== undefined) ? RESTARTED : ORPHANED;
  const answer = answerTo(calls, agentId, () => decision);
  // What the agent makes of it belongs to a prompt that is long over.
  for await (const _ of await openStream(client, server, agentId, answer, deadline.signal));
  await Promise.all(calls.map(({ callId }) => store.lettaAsked.of(callId).delete()));
}

/** The calls that an agent waits for: as the server says itself, or, where it does not, as the latest run that ended with a request. */
async function waitingAt({ client, deadline, prompt }: Talk): Promise<readonly WaitingCall[]> {
  const { signal } = deadline;
  const { agentId } = prompt;
  const heard = nothingHeard();
  const agent = await client.agents.retrieve(agentId, { include: ['agent.pending_approval'] }, { signal });
  if (agent.pending_approval !== undefined && agent.pending_approval !== null) {
    hear(heard, agent.pending_approval);
    return heard.waiting;
  }
  const { items } = await client.runs.list({ agent_id: agentId, order: 'desc', limit: MOST_RUNS }, { signal });
  const run = items.find(({ stop_reason }) => stop_reason === 'requires_approval');
  if (run !== undefined) for (const message of await messagesOf(client, run.id, signal)) hear(heard, message);
  return heard.waiting;
}
