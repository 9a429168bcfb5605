import { troubleOf } from '../server/trouble.js';
import type { Answered, Conversed, Unanswered } from '../types.js';
import { cancelAtServer, leftNothing } from './cancel.js';
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
  const { retry, retryAfterMs, sentence, kind } = troubleOf(error);
  if (hasActed(talk)) {
    // It may have been answered all the same: the next attempt looks.
    if (retry && kind !== 'run-error') return again(talk, sentence, error, retryAfterMs);
    return givenUp(talk, sentence, error);
  }
  if (!retry) {
    await talk.store.lettaSent.of(talk.prompt.key).delete();
    return { status: 'failed', retry: false, sentence, error, tools: [] };
  }
  // A server that knows the id of a run that came to nothing would hand it out again.
  if (kind === 'run-error' && (await leftNothing(talk))) await renew(talk);
  return again(talk, sentence, error, retryAfterMs);
}

/** The time is over, or the bot stops: the run is cancelled at the server. */
export async function interrupted(talk: Talk): Promise<Conversed> {
  const { deadline, heard, prompt } = talk;
  const timedOut = deadline.reason === 'timeout';
  // Somebody is being asked: the next process answers that, and the agent goes on then.
  const isAsking = !timedOut && heard.waiting.length > 0;
  if (!isAsking) await cancelAtServer(talk);
  if (timedOut) {
    const seconds = Math.round(prompt.timeoutMs / 1000);
    return givenUp(talk, `The agent took longer than ${seconds} s.`, new Error('the agent timed out'));
  }
  const sentence = 'I was stopped while the agent was working.';
  const error = new Error('the relay was stopped');
  if (isAsking) return again(talk, sentence, error);
  if (hasActed(talk)) return givenUp(talk, sentence, error);
  if (heard.runId !== undefined && (await leftNothing(talk))) await renew(talk);
  return again(talk, sentence, error);
}

function again(talk: Talk, sentence: string, error: unknown, retryAfterMs?: number): Unanswered {
  const patience = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { status: 'failed', retry: true, ...patience, sentence, error, tools: [...talk.heard.tools.values()] };
}
