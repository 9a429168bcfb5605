import type { Letta } from '@letta-ai/letta-client';
import { decide, denyOrphans } from '../approvals.js';
import { isConnectionRefused, isRunError, stoppedBy, troubleOf } from '../errors.js';
import type { SentPrompt } from '../sent-prompts.js';
import { listen, nothingHeard } from './consume-stream.js';
import {
  type AgentEvent,
  type Answered,
  type Conversed,
  createDeadline,
  hasActed,
  keep,
  type Next,
  type Prompt,
  renew,
  type Talk,
  type TalkParts,
  type Unanswered,
} from './prompt-context.js';
import { cancelAtServer, keptOfPrompt, look, reattach } from './recover-run.js';
import { openStream } from './requests.js';
import { isDead, waitForBlocker, waitForOthers } from './run-progress.js';

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

const MOST_ORPHANS = 3;

/** Sends the prompt, and hears the agent out. */
async function send(talk: Talk): Promise<Next> {
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

/** The agent has been heard out. */
async function answered(talk: Talk): Promise<Answered> {
  const { texts, tools, steps, tokens, stopReason = 'end_turn' } = talk.heard;
  const outcome = { status: 'done' as const, texts, tools: [...tools.values()], steps, tokens, stopReason };
  await keep(talk, { outcome });
  talk.log.info('the agent has ended', { ...outcome, texts: texts.length, agentId: talk.prompt.agentId });
  return outcome;
}

/** It cannot be tried again: kept, so that it is not. */
async function givenUp(talk: Talk, sentence: string, error: unknown): Promise<Unanswered> {
  const outcome = { status: 'failed' as const, sentence, tools: [...talk.heard.tools.values()] };
  await keep(talk, { outcome });
  return { ...outcome, retry: false, error };
}

/** What an error comes to: another attempt, where the agent has done nothing and the error may pass. */
async function unanswered(talk: Talk, error: unknown): Promise<Unanswered> {
  const { retry, retryAfterMs, sentence } = troubleOf(error);
  const isOver = isRunError(error);
  if (hasActed(talk)) {
    // It may have been answered all the same: the next attempt looks.
    if (retry && !isOver) return again(talk, sentence, error, retryAfterMs);
    return givenUp(talk, isOver ? stoppedBy(error) : sentence, error);
  }
  if (!retry) {
    await talk.store.lettaSent.of(talk.prompt.key).delete();
    return { status: 'failed', retry: false, sentence, error, tools: [] };
  }
  // A server that knows the id of a run that came to nothing would hand it out again.
  if (isOver && (await leftNothing(talk))) await renew(talk);
  return again(talk, sentence, error, retryAfterMs);
}

/**
 * The time is over, the agent may not act any more, or the bot stops. In the first two cases it is cancelled at the server. One that is at work
 * when the bot stops
 * goes on: it could not be held up in the middle of a step, and the next process takes its run up.
 */
async function interrupted(talk: Talk): Promise<Conversed> {
  const { deadline, prompt } = talk;
  if (deadline.reason === 'withdrawn') {
    await cancelAtServer(talk);
    return givenUp(talk, 'There will be no answer: the agent was switched off while it worked.', talk.stopped.reason);
  }
  if (deadline.reason !== 'timeout') {
    return again(talk, 'I was stopped while the agent was working.', new Error('the relay was stopped'));
  }
  await cancelAtServer(talk);
  const seconds = Math.round(prompt.timeoutMs / 1000);
  return givenUp(talk, `The agent took longer than ${seconds} s.`, new Error('the agent timed out'));
}

/** Whether the server has kept nothing of the prompt, so that it may be sent anew. */
async function leftNothing(talk: Talk): Promise<boolean> {
  try {
    return (await keptOfPrompt(talk, AbortSignal.timeout(PATIENCE_MS))).runs.length === 0;
  } catch {
    return false;
  }
}

const PATIENCE_MS = 5_000;

function again(talk: Talk, sentence: string, error: unknown, retryAfterMs?: number): Unanswered {
  const patience = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { status: 'failed', retry: true, ...patience, sentence, error, tools: [...talk.heard.tools.values()] };
}
