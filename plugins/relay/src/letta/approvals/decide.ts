import { linkSignals } from '@cinnabar/sdk';
import type { WaitingCall } from '../runs/heard.js';
import { listen } from '../runs/listen.js';
import { openStream } from '../runs/send.js';
import { keep, type Next, type Talk } from '../runs/talk.js';
import { waitForBlocker } from '../runs/wait-for-others.js';
import { troubleOf } from '../server/trouble.js';
import type { ApprovalDecision } from '../types.js';
import { answerTo, RESTARTED } from './answer.js';

const MOST_LOSSES = 3;
const NOT_ASKED: ApprovalDecision = { approve: false, reason: 'Nobody could be asked.' };

/** Has the agent's requests decided, tells it, and hears it out. */
export async function decide(talk: Talk, asked: boolean): Promise<Next> {
  const { client, server, store, heard, prompt, deadline, decisions, clock } = talk;
  const calls = heard.waiting;
  for (const call of calls) {
    if (decisions.has(call.callId)) continue;
    decisions.set(call.callId, asked ? await deadline.outside(() => askPeople(talk, call)) : RESTARTED);
    deadline.signal.throwIfAborted();
  }
  if (calls.some(({ callId }) => decisions.get(callId)?.approve === true)) await keep(talk, { acted: true });
  const answer = answerTo(calls, prompt.key, (callId) => decisions.get(callId) ?? NOT_ASKED);
  try {
    const stream = await openStream(client, server, prompt.agentId, answer, deadline.signal);
    talk.aliveAt = clock.now();
    await Promise.all(calls.map(({ callId }) => store.lettaAsked.of(callId).delete()));
    for (const { callId, name } of calls) heard.tools.set(callId, { callId, name, ok: undefined });
    heard.waiting = [];
    return await listen(talk, stream);
  } catch (error) {
    deadline.signal.throwIfAborted();
    talk.losses += 1;
    const { retry, kind, runId } = troubleOf(error);
    if (kind === 'busy') await waitForBlocker(talk, runId);
    // It may have got through, or somebody has decided elsewhere: the server knows.
    const mayBeThere = retry || kind === 'refused' || kind === 'nothing-pending';
    return mayBeThere && talk.losses <= MOST_LOSSES ? { do: 'look' } : { do: 'fail', error };
  }
}

/** Written down before anybody is asked, and denied when they cannot be. */
async function askPeople(talk: Talk, { callId, name, input }: WaitingCall): Promise<ApprovalDecision> {
  const { store, prompt, clock, log, stopped } = talk;
  const { agentId, key, place } = prompt;
  const request = { agentId, key, callId, tool: name, input, place };
  await store.lettaAsked.of(callId).set({ ...request, at: clock.now() });
  const ended = linkSignals(stopped);
  try {
    return await Promise.race([talk.ask(request, stopped), aborted(ended.signal)]);
  } catch (error) {
    log.warn('nobody could be asked for an approval', { agentId, tool: name, error });
    return NOT_ASKED;
  } finally {
    ended.release();
  }
}

/** Whoever is asked may not notice: the decision is then the next process's. */
function aborted(signal: AbortSignal): Promise<ApprovalDecision> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(RESTARTED);
    signal.addEventListener('abort', () => resolve(RESTARTED), { once: true });
  });
}
