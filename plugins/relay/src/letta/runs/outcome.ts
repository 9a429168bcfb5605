import { isRunError, stoppedBy, troubleOf } from '../server/trouble.js';
import type { Answered, Conversed, Unanswered } from '../types.js';
import { cancelAtServer } from './cancel.js';
import { keptOfPrompt } from './look.js';
import { renew } from './send.js';
import { hasActed, keep, type Talk } from './talk.js';

/** The agent has been heard out. */
export async function answered(talk: Talk): Promise<Answered> {
  const { texts, tools, steps, tokens, stopReason = 'end_turn' } = talk.heard;
  const outcome = { status: 'done' as const, texts, tools: [...tools.values()], steps, tokens, stopReason };
  await keep(talk, { outcome });
  talk.log.info('the agent has ended', { ...outcome, texts: texts.length, agentId: talk.prompt.agentId });
  return outcome;
}

/** It cannot be tried again: kept, so that it is not. */
export async function givenUp(talk: Talk, sentence: string, error: unknown): Promise<Unanswered> {
  const outcome = { status: 'failed' as const, sentence, tools: [...talk.heard.tools.values()] };
  await keep(talk, { outcome });
  return { ...outcome, retry: false, error };
}

/** What an error comes to: another attempt, where the agent has done nothing and the error may pass. */
export async function unanswered(talk: Talk, error: unknown): Promise<Unanswered> {
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
export async function interrupted(talk: Talk): Promise<Conversed> {
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
