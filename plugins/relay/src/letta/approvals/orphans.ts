import { hear, nothingHeard, type WaitingCall } from '../runs/heard.js';
import { openStream } from '../runs/send.js';
import type { Talk } from '../runs/talk.js';
import { answerTo, ORPHANED, RESTARTED } from './answer.js';

const PAGE = 50;

/** Denies what an agent waits for although nobody is going to decide about it: each later message would be refused for it. */
export async function denyOrphans(
  talk: Pick<Talk, 'client' | 'server' | 'store' | 'log' | 'deadline'> & {
    readonly prompt: Pick<Talk['prompt'], 'agentId'>;
  },
): Promise<void> {
  const { client, server, store, log, deadline } = talk;
  const { agentId } = talk.prompt;
  const { items } = await client.agents.messages.list(
    agentId,
    { limit: PAGE, order: 'desc' },
    { signal: deadline.signal },
  );
  const calls = waitingIn(items.toReversed());
  if (calls.length === 0) return;
  log.warn('denied what the agent was still waiting for', { agentId, tools: calls.map(({ name }) => name) });
  const known = await Promise.all(calls.map(({ callId }) => store.lettaAsked.of(callId).find()));
  const decision = known.some((asked) => asked !== undefined) ? RESTARTED : ORPHANED;
  const answer = answerTo(calls, () => decision);
  // What the agent makes of it belongs to a prompt that is long over.
  for await (const _ of await openStream(client, server, agentId, answer, deadline.signal));
  await Promise.all(calls.map(({ callId }) => store.lettaAsked.of(callId).delete()));
}

function waitingIn(messages: readonly Parameters<typeof hear>[1][]): readonly WaitingCall[] {
  const heard = nothingHeard();
  for (const message of messages) hear(heard, message);
  return heard.waiting;
}
