import type { Message, Run } from '@letta-ai/letta-client/resources/agents/messages';
import { countMessages, isOver, messagesOf, overRun, pause, restOf } from '../client.js';
import { RunFailed } from '../errors.js';
import {
  applyChunk,
  consumeStream,
  createStreamState,
  givenUp,
  isDead,
  isDoubtful,
  type StreamState,
  watchRun,
} from './consume-stream.js';
import { hasActed, type Next, type PromptContext, renewOtid, saveRecord } from './prompt-context.js';

/** Maximum difference between this clock and the server's. */
const CLOCKS_APART_MS = 60_000;
const REATTACH_MS = 500;
/** Number of latest runs that are searched. An agent gets one prompt after another, so few runs since then belong to other prompts. */
const MOST_RUNS = 50;

/** Continues to read the run after a lost connection; if that is not possible, waits until it has ended. */
export async function reattach(context: PromptContext): Promise<Next> {
  const { client, clock, server, state, deadline } = context;
  const { runId } = state;
  if (runId === undefined) return { do: 'recover' };
  await pause(clock, REATTACH_MS * (context.losses - 1), deadline.signal);
  if (isDead(server, { runId }) || isDoubtful(context)) return { do: 'recover' };
  if (server.background && state.lastSequence > 0) {
    return consumeStream(context, await restOf(client, runId, state.lastSequence, deadline.signal));
  }
  await overRun(client, clock, runId, deadline.signal);
  return { do: 'recover' };
}

/** The server's records of a prompt. */
interface FoundRuns {
  /** The prompt's runs, oldest first: the first answers the prompt, each later one follows a decision about the calls of the previous one. */
  readonly runs: readonly Run[];
  readonly state: StreamState;
  /** A running run without messages, which may belong to this prompt. */
  readonly unknown: Run | undefined;
}

/**
 * Searches for a prompt among the agent's runs since it was sent. Runs tell which messages belong together, and their order. An agent's complete history does
 * not: its order differs between servers, and it contains the server's own messages.
 */
export async function findRuns(context: PromptContext, signal: AbortSignal): Promise<FoundRuns> {
  const { client, prompt, record } = context;
  const since = record.at - CLOCKS_APART_MS;
  const { items } = await client.runs.list({ agent_id: prompt.agentId, order: 'desc', limit: MOST_RUNS }, { signal });
  const recent = items.filter(({ created_at }) => Date.parse(created_at ?? '') >= since).sort(byAge);
  const runs: Run[] = [];
  const state = createStreamState();
  let unknown: Run | undefined;
  for (const run of recent) {
    const messages = await messagesOf(client, run.id, signal);
    if (messages.length === 0 && !isOver(run)) unknown = run;
    const isMine = runs.length === 0 ? messages.some((one) => isPrompt(one, record.otid)) : decides(state, messages);
    if (!isMine) continue;
    runs.push(run);
    for (const message of messages) applyChunk(state, message);
    state.runId = run.id;
  }
  return { runs, state, unknown };
}

const byAge = (a: Run, b: Run) => Date.parse(a.created_at ?? '') - Date.parse(b.created_at ?? '');

function isPrompt(message: Message, otid: string): boolean {
  return message.message_type === 'user_message' && message.otid === otid;
}

/** Whether messages contain the result of a call that waited for a decision. */
function decides({ waiting }: StreamState, messages: readonly Message[]): boolean {
  const after = createStreamState();
  for (const message of messages) applyChunk(after, message);
  return waiting.some(({ callId }) => after.tools.has(callId));
}

/** Finds out the state of a prompt that may have been sent: answered, running, waiting for an approval, or never arrived. */
export async function recoverRun(context: PromptContext): Promise<Next> {
  const { server, deadline } = context;
  const { runs, state, unknown } = await findRuns(context, deadline.signal);
  const last = runs.at(-1);
  const inFlight =
    last !== undefined && !isOver(last) ? last : state.waiting.length > 0 || last === undefined ? unknown : undefined;
  if (inFlight !== undefined && !isDead(server, { runId: inFlight.id })) return waitFor(context, inFlight.id);
  if (last === undefined) return inFlight === undefined ? notThere(context) : afterDeath(context, inFlight.id);
  context.state = { ...state, steps: context.state.steps, tokens: context.state.tokens, runId: last.id };
  if (inFlight !== undefined) return afterDeath(context, inFlight.id);
  return evaluate(context, runs, last);
}

/** Waits for a run to end. A server stores messages at the end of a step; until then it shows only the run. */
async function waitFor(context: PromptContext, runId: string): Promise<Next> {
  const { client, clock, deadline } = context;
  context.state.runId = runId;
  if (isDoubtful(context)) {
    // A live run may still use all of the agent's time, so the watch does not count.
    const found = await deadline.outside(() => watchRun(context, runId));
    if (found !== 'dead') context.aliveAt = clock.now();
  } else await overRun(client, clock, runId, deadline.signal);
  return { do: 'recover' };
}

async function evaluate(context: PromptContext, runs: readonly Run[], last: Run): Promise<Next> {
  const { state } = context;
  state.stopReason = last.stop_reason ?? 'end_turn';
  if (state.waiting.length > 0) return { do: 'decide', asked: context.decisions.size > 0 };
  const failure = last.metadata?.error ?? { error_type: state.stopReason };
  if (last.status === 'failed') return { do: 'fail', error: new RunFailed(last.id, failure) };
  if (last.status === 'cancelled') return givenUp(new Error(`the run ${last.id} was cancelled at the server`));
  await count(context, runs);
  return { do: 'end' };
}

/** The server has no run of the prompt. It is sent again, unless the agent was seen working on it. */
async function notThere(context: PromptContext): Promise<Next> {
  if (context.record.acted || (await hasWritten(context))) {
    return givenUp(new Error('the agent was at work, but the server has not kept it'));
  }
  await saveRecord(context, { at: context.clock.now() });
  return { do: 'send' };
}

/** The run is dead: its server process has ended. The prompt is sent again under another id, unless the agent has acted. */
async function afterDeath(context: PromptContext, runId: string): Promise<Next> {
  context.state.runId = runId;
  await cancelAtServer(context);
  if (hasActed(context) || context.state.texts.length > 0 || (await hasWritten(context))) {
    return givenUp(new Error('the server went down under the run'));
  }
  await renewOtid(context);
  return { do: 'send' };
}

/** The server has not stored the step in which it stopped; messages on Discord show its effects. */
async function hasWritten({ prompt, record }: PromptContext): Promise<boolean> {
  return (await prompt.hasWritten?.(record.at)) === true;
}

/** Adds up the usage of the runs, which their messages do not contain. */
async function count({ client, state, deadline, log }: PromptContext, runs: readonly Run[]): Promise<void> {
  if (state.tokens > 0) return;
  for (const { id } of runs) {
    try {
      const usage = await client.runs.usage.retrieve(id, { signal: deadline.signal });
      state.tokens += usage.total_tokens ?? 0;
    } catch (error) {
      deadline.signal.throwIfAborted();
      log.debug('a run does not say what it has used', { runId: id, error });
    }
  }
}

const CANCEL_OPTIONS = { timeout: 5_000 };

/**
 * Cancels the prompt's run, if the server can be reached. Without a known run id, cancels only a run that cannot belong to another prompt. The server only
 * marks the run: the model's current completion, and the tool call in it, still happen.
 */
export async function cancelAtServer(context: PromptContext): Promise<void> {
  const { client, server, prompt, clock, log } = context;
  const { agentId } = prompt;
  try {
    const runId = context.state.runId ?? (await onlyRun(context));
    if (runId === undefined) return;
    context.state.runId = runId;
    // The count is not worth a failure: cancelling matters more.
    const messages = await countMessages(client, runId, AbortSignal.timeout(CANCEL_OPTIONS.timeout)).catch(() => 0);
    server.cancelled.set(agentId, { runId, messages, at: clock.now(), since: context.aliveAt });
    await client.agents.messages.cancel(agentId, { run_ids: [runId] }, CANCEL_OPTIONS);
  } catch (error) {
    log.warn("the agent's run could not be cancelled", { agentId, runId: context.state.runId, error });
  }
}

async function onlyRun({ client, prompt, record }: PromptContext): Promise<string | undefined> {
  const { items } = await client.runs.list({ agent_id: prompt.agentId, active: true, limit: 20 }, CANCEL_OPTIONS);
  const [run, ...others] = items.filter((run) => !isOver(run) && Date.parse(run.created_at ?? '') >= record.at);
  return others.length === 0 ? run?.id : undefined;
}
