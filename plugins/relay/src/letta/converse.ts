import type { Letta } from '@letta-ai/letta-client';
import { decide } from './approvals/decide.js';
import type { SentPrompt } from './collections.js';
import { createDeadline } from './runs/deadline.js';
import { nothingHeard } from './runs/heard.js';
import { look, reattach } from './runs/look.js';
import { answered, givenUp, interrupted, unanswered } from './runs/outcome.js';
import { send } from './runs/send.js';
import type { Next, Talk, TalkParts } from './runs/talk.js';
import { isConnectionRefused } from './server/trouble.js';
import type { AgentEvent, Conversed, Prompt } from './types.js';

/**
 * Tells an agent something, and hears it out. What is sent is written down before: a prompt that was sent before is looked for at the
 * server, and taken up wherever it stands.
 */
export async function converse(
  parts: TalkParts,
  client: Letta,
  prompt: Prompt,
  stopped: AbortSignal,
  tell: (event: AgentEvent) => void,
): Promise<Conversed> {
  const document = parts.store.lettaSent.of(prompt.key);
  const known = await document.find();
  if (known?.outcome !== undefined) return recalled(known.outcome);
  const { agentId, place, key } = prompt;
  // An agent that was chosen anew since has never heard of it.
  const isKnown = known?.agentId === agentId;
  const record = isKnown ? known : await document.set(fresh(agentId, place, key, parts.clock.now()));
  const deadline = createDeadline(parts.clock, prompt.timeoutMs, stopped);
  const talk: Talk = {
    ...parts,
    client,
    prompt,
    deadline,
    stopped,
    tell,
    record,
    heard: nothingHeard(),
    decisions: new Map(),
    aliveAt: record.at,
    losses: 0,
    orphans: 0,
    blocker: undefined,
  };
  try {
    return await hearOut(talk, isKnown ? { do: 'look' } : { do: 'send' });
  } catch (error) {
    if (isConnectionRefused(error)) parts.server.refusedAt = parts.clock.now();
    return deadline.signal.aborted ? await interrupted(talk) : await unanswered(talk, error);
  } finally {
    deadline.end();
  }
}

async function hearOut(talk: Talk, first: Next): Promise<Conversed> {
  let next = first;
  for (;;) {
    switch (next.do) {
      case 'send':
        next = await send(talk);
        break;
      case 'reattach':
        next = await reattach(talk);
        break;
      case 'look':
        next = await look(talk);
        break;
      case 'decide':
        next = await decide(talk, next.asked);
        break;
      case 'end':
        return answered(talk);
      case 'fail':
        if (isConnectionRefused(next.error)) talk.server.refusedAt = talk.clock.now();
        return unanswered(talk, next.error);
      case 'give-up':
        return givenUp(talk, next.sentence, next.error);
    }
    talk.deadline.signal.throwIfAborted();
  }
}

function fresh(agentId: string, place: Prompt['place'], key: string, at: number): SentPrompt {
  return { agentId, place: { ...place }, at, otid: key, acted: false };
}

function recalled(outcome: NonNullable<SentPrompt['outcome']>): Conversed {
  if (outcome.status === 'done') return { ...outcome, tools: outcome.tools.map(withOk) };
  const error = new Error('it was told before, and failed for good');
  return { ...outcome, tools: outcome.tools.map(withOk), retry: false, error };
}

function withOk({ callId, name, ok }: { callId: string; name: string; ok?: boolean | undefined }) {
  return { callId, name, ok };
}
