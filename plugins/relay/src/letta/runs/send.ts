import type { Letta } from '@letta-ai/letta-client';
import type { MessageCreate } from '@letta-ai/letta-client/resources/agents/agents';
import type { ApprovalCreate, LettaStreamingResponse } from '@letta-ai/letta-client/resources/agents/messages';
import { denyOrphans } from '../approvals/orphans.js';
import { troubleOf } from '../server/trouble.js';
import { STREAM_TIMEOUT_MS } from './follow.js';
import { listen } from './listen.js';
import { keep, type Next, type Talk, type TalkParts } from './talk.js';

/** Most steps of a run, so that an agent cannot go round in circles. */
const MAX_STEPS = 50;
const MOST_ORPHANS = 3;

/** Sends a message, in the background where the server can: then the run survives a lost connection, and a repeated id is known. */
export async function openStream(
  client: Letta,
  server: TalkParts['server'],
  agentId: string,
  message: MessageCreate | ApprovalCreate,
  signal: AbortSignal,
): Promise<AsyncIterable<LettaStreamingResponse>> {
  const body = { messages: [message], streaming: true as const, include_pings: true, max_steps: MAX_STEPS };
  const options = { signal, timeout: STREAM_TIMEOUT_MS };
  try {
    return await client.agents.messages.create(agentId, { ...body, background: server.background }, options);
  } catch (error) {
    if (!server.background || troubleOf(error).kind !== 'no-background') throw error;
    server.background = false;
    return client.agents.messages.create(agentId, { ...body, background: false }, options);
  }
}

/** Sends the prompt, and hears the agent out. */
export async function send(talk: Talk): Promise<Next> {
  const { client, server, prompt, deadline } = talk;
  const message = { role: 'user' as const, content: prompt.text, otid: talk.record.otid };
  try {
    return await listen(talk, await openStream(client, server, prompt.agentId, message, deadline.signal));
  } catch (error) {
    deadline.signal.throwIfAborted();
    if (troubleOf(error).kind !== 'pending-approval' || talk.orphans >= MOST_ORPHANS) return { do: 'fail', error };
    talk.orphans += 1;
    await denyOrphans(talk);
    // The server may have noted the refused request as answered.
    await renew(talk);
    return { do: 'send' };
  }
}

/** Gives the prompt another id at the server, once it is known that nothing came of the one before: `key`, `key-2`, `key-3` … */
export async function renew(talk: Talk): Promise<void> {
  const { key } = talk.prompt;
  const last = Number(talk.record.otid.slice(key.length + 1)) || 1;
  await keep(talk, { otid: `${key}-${last + 1}` });
}
