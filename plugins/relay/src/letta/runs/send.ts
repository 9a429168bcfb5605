import type { Letta } from '@letta-ai/letta-client';
import type { MessageCreate } from '@letta-ai/letta-client/resources/agents/agents';
import type { ApprovalCreate, LettaStreamingResponse } from '@letta-ai/letta-client/resources/agents/messages';
import { denyOrphans } from '../approvals/orphans.js';
import { troubleOf } from '../server/trouble.js';
import { STREAM_TIMEOUT_MS } from './follow.js';
import { listen } from './listen.js';
import { isDead } from './liveness.js';
import { keep, type Next, type ServerFindings, type Talk } from './talk.js';
import { waitForBlocker, waitForOthers } from './wait-for-others.js';

/** Most steps of a run, so that an agent cannot go round in circles. */
const MAX_STEPS = 50;
const MOST_ORPHANS = 3;

/**
 * Sends a message, in the background where the server can: then the run survives a lost connection. It goes to the agent's default
 * conversation, where the server knows a repeated id, and refuses a message while the agent is busy; older servers have agents only.
 * @param unlocked past that refusal: what keeps the agent busy is known to be dead
 */
export async function openStream(
  client: Letta,
  server: ServerFindings,
  agentId: string,
  message: MessageCreate | ApprovalCreate,
  signal: AbortSignal,
  unlocked = false,
): Promise<AsyncIterable<LettaStreamingResponse>> {
  const options = { signal, timeout: STREAM_TIMEOUT_MS };
  for (;;) {
    const { background, conversations } = server;
    const body = {
      messages: [message],
      streaming: true as const,
      background,
      include_pings: true,
      max_steps: MAX_STEPS,
    };
    try {
      return conversations && !unlocked
        ? await client.conversations.messages.create('default', { agent_id: agentId, ...body }, options)
        : await client.agents.messages.create(agentId, body, options);
    } catch (error) {
      const { kind } = troubleOf(error);
      if (background && kind === 'no-background') server.background = false;
      else if (conversations && kind === 'no-conversations') server.conversations = false;
      else throw error;
    }
  }
}

/** Sends the prompt, and hears the agent out. */
export async function send(talk: Talk): Promise<Next> {
  const { client, server, prompt, deadline, clock } = talk;
  const message = { role: 'user' as const, content: prompt.text, otid: talk.record.otid };
  const unlocked = talk.blocker !== undefined && isDead(server, talk.blocker);
  try {
    await waitForOthers(talk);
    const stream = await openStream(client, server, prompt.agentId, message, deadline.signal, unlocked);
    talk.aliveAt = clock.now();
    return await listen(talk, stream);
  } catch (error) {
    deadline.signal.throwIfAborted();
    const { kind, runId } = troubleOf(error);
    if (kind === 'busy') {
      await waitForBlocker(talk, runId);
      return { do: 'send' };
    }
    if (kind !== 'pending-approval' || talk.orphans >= MOST_ORPHANS) return { do: 'fail', error };
    talk.orphans += 1;
    await denyOrphans(talk);
    // The server knows the refused message by its id, and would answer with the refusal again.
    await renew(talk);
    return { do: 'send' };
  }
}

/** Gives the prompt another id at the server, once it is known that nothing came of the one before: `key`, `key-2`, `key-3` … */
export async function renew(talk: Talk): Promise<void> {
  const { key } = talk.prompt;
  const last = Number(talk.record.otid.slice(key.length + 1)) || 1;
  await keep(talk, { otid: `${key}-${last + 1}`, at: talk.clock.now() });
}
