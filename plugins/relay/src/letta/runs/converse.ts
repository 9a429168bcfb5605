import { t } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';
import { decide, denyOrphans } from '../approvals.js';
import { openStream } from '../client.js';
import { isConnectionRefused, isRunError, stoppedBy, troubleOf } from '../errors.js';
import { consumeStream, createStreamState, isDead, waitForBlocker, waitForOthers } from './consume-stream.js';
import {
  type AgentEvent,
  type Answered,
  type Conversed,
  createDeadline,
  hasActed,
  type Next,
  type Prompt,
  type PromptContext,
  type PromptServices,
  renewOtid,
  type SentPrompt,
  saveRecord,
  type Unanswered,
} from './prompt-context.js';
import { cancelAtServer, findRuns, reattach, recoverRun } from './recover-run.js';

/**
 * Sends a prompt to an agent, and reads its run to the end. The prompt is stored before it is sent. One that was sent before is searched for at the server, and
 * continued.
 */
export async function converse(
  parts: PromptServices,
  client: Letta,
  prompt: Prompt,
  stopped: AbortSignal,
  tell: (event: AgentEvent) => void,
): Promise<Conversed> {
  const document = parts.store.lettaSent.of(prompt.key);
  const known = await document.find();
  if (known?.outcome !== undefined) return recalled(known.outcome);
  const { agentId, place, key } = prompt;
  // The agent may have been replaced since; then the new one has not received the prompt.
  const isKnown = known?.agentId === agentId;
  const record = isKnown ? known : await document.set(fresh(agentId, place, key, parts.clock.now()));
  const deadline = createDeadline(parts.clock, prompt.timeoutMs, stopped);
  const context: PromptContext = {
    ...parts,
    client,
    prompt,
    deadline,
    stopped,
    tell,
    record,
    state: createStreamState(),
    decisions: new Map(),
    aliveAt: record.at,
    losses: 0,
    orphans: 0,
    blocker: undefined,
  };
  try {
    return await runSteps(context, isKnown ? { do: 'recover' } : { do: 'send' });
  } catch (error) {
    if (isConnectionRefused(error)) parts.server.refusedAt = parts.clock.now();
    return deadline.signal.aborted ? await interrupted(context) : await unanswered(context, error);
  } finally {
    deadline.end();
  }
}

async function runSteps(context: PromptContext, first: Next): Promise<Conversed> {
  let next = first;
  for (;;) {
    switch (next.do) {
      case 'send':
        next = await send(context);
        break;
      case 'reattach':
        next = await reattach(context);
        break;
      case 'recover':
        next = await recoverRun(context);
        break;
      case 'decide':
        next = await decide(context, next.asked);
        break;
      case 'end':
        return answered(context);
      case 'fail':
        if (isConnectionRefused(next.error)) context.server.refusedAt = context.clock.now();
        return unanswered(context, next.error);
      case 'give-up':
        return givenUp(context, next.sentence, next.error);
    }
    context.deadline.signal.throwIfAborted();
  }
}

function fresh(agentId: string, place: Prompt['place'], key: string, at: number): SentPrompt {
  return { agentId, place: { ...place }, at, otid: key, acted: false };
}

function recalled(outcome: NonNullable<SentPrompt['outcome']>): Conversed {
  if (outcome.status === 'done') return { ...outcome, tools: outcome.tools.map(withOk) };
  const error = new Error('it was sent before, and failed for good');
  return { ...outcome, tools: outcome.tools.map(withOk), retry: false, error };
}

function withOk({ callId, name, ok }: { callId: string; name: string; ok?: boolean | undefined }) {
  return { callId, name, ok };
}

const MOST_ORPHANS = 3;

/** Sends the prompt, and reads the run. Sends it again after the agent was busy or waited for an orphaned approval. */
async function send(context: PromptContext): Promise<Next> {
  const { client, server, prompt, deadline, clock } = context;
  const message = { role: 'user' as const, content: prompt.text, otid: context.record.otid };
  const unlocked = context.blocker !== undefined && isDead(server, context.blocker);
  try {
    await waitForOthers(context);
    const stream = await openStream(client, server, prompt.agentId, message, deadline.signal, unlocked);
    context.aliveAt = clock.now();
    return await consumeStream(context, stream);
  } catch (error) {
    deadline.signal.throwIfAborted();
    const { kind, runId } = troubleOf(error);
    if (kind === 'busy') {
      await waitForBlocker(context, runId);
      return { do: 'send' };
    }
    if (kind !== 'pending-approval' || context.orphans >= MOST_ORPHANS) return { do: 'fail', error };
    context.orphans += 1;
    await denyOrphans(context);
    // The server recognises the id of the refused message, and would return the refusal again.
    await renewOtid(context);
    return { do: 'send' };
  }
}

/** Stores the outcome of a run that has ended. */
async function answered(context: PromptContext): Promise<Answered> {
  const { texts, tools, steps, tokens, stopReason = 'end_turn' } = context.state;
  const outcome = { status: 'done' as const, texts, tools: [...tools.values()], steps, tokens, stopReason };
  await saveRecord(context, { outcome });
  context.log.info('the agent has ended', { ...outcome, texts: texts.length, agentId: context.prompt.agentId });
  return outcome;
}

/** Stores a permanent failure, so that the prompt is never sent again. */
async function givenUp(context: PromptContext, sentence: string, error: unknown): Promise<Unanswered> {
  const outcome = { status: 'failed' as const, sentence, tools: [...context.state.tools.values()] };
  await saveRecord(context, { outcome });
  return { ...outcome, retry: false, error };
}

/** The outcome of an error. Another attempt follows if the agent has done nothing and the error may be temporary. */
async function unanswered(context: PromptContext, error: unknown): Promise<Unanswered> {
  const { retry, retryAfterMs, sentence } = troubleOf(error);
  const isOver = isRunError(error);
  if (hasActed(context)) {
    // The prompt may have been answered nevertheless; the next attempt checks this.
    if (retry && !isOver) return again(context, sentence, error, retryAfterMs);
    return givenUp(context, isOver ? stoppedBy(error) : sentence, error);
  }
  if (!retry) {
    await context.store.lettaSent.of(context.prompt.key).delete();
    return { status: 'failed', retry: false, sentence, error, tools: [] };
  }
  // For the id of a failed run, the server would return that run again.
  if (isOver && (await leftNothing(context))) await renewOtid(context);
  return again(context, sentence, error, retryAfterMs);
}

/**
 * The outcome when the time is over, the agent may no longer act, or the bot stops. In the first two cases the run is cancelled at the server. When the bot
 * stops, the run continues, since it cannot be paused within a step; the next process resumes it.
 */
async function interrupted(context: PromptContext): Promise<Conversed> {
  const { deadline, prompt } = context;
  if (deadline.reason === 'withdrawn') {
    await cancelAtServer(context);
    return givenUp(
      context,
      t('There will be no answer: the agent was switched off while it worked.'),
      context.stopped.reason,
    );
  }
  if (deadline.reason !== 'timeout') {
    return again(context, t('I was stopped while the agent was working.'), new Error('the relay was stopped'));
  }
  await cancelAtServer(context);
  const seconds = Math.round(prompt.timeoutMs / 1000);
  return givenUp(context, t('The agent took longer than {seconds} s.', { seconds }), new Error('the agent timed out'));
}

/** Whether the server has stored no run of the prompt, so that it may be sent under another id. */
async function leftNothing(context: PromptContext): Promise<boolean> {
  try {
    return (await findRuns(context, AbortSignal.timeout(PATIENCE_MS))).runs.length === 0;
  } catch {
    return false;
  }
}

const PATIENCE_MS = 5_000;

function again(context: PromptContext, sentence: string, error: unknown, retryAfterMs?: number): Unanswered {
  const patience = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { status: 'failed', retry: true, ...patience, sentence, error, tools: [...context.state.tools.values()] };
}
