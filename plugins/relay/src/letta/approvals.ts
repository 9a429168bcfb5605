import { type Actor, linkSignals, type SettledOutcome, type ToolDefinition, t, withinLimit, z } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';
import type { ApprovalCreate } from '@letta-ai/letta-client/resources/agents/messages';
import { grantOf, guildIdentity, PLUGIN } from '../agents/permissions.js';
import type { RelayStores } from '../context.js';
import { type Connect, messagesOf, openStream } from './client.js';
import { troubleOf } from './errors.js';
import {
  applyChunk,
  consumeStream,
  createStreamState,
  type WaitingCall,
  waitForBlocker,
} from './runs/consume-stream.js';
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type AskApproval,
  type AskedApproval,
  createDeadline,
  type Next,
  type PromptContext,
  type PromptServices,
  saveRecord,
} from './runs/prompt-context.js';

const MOST_LOSSES = 3;
const NOT_ASKED: ApprovalDecision = { approve: false, reason: 'Nobody could be asked.' };

/** Requests decisions about the agent's calls, sends them, and reads the run to its end. */
export async function decide(context: PromptContext, asked: boolean): Promise<Next> {
  const { client, server, store, state, prompt, deadline, decisions, clock } = context;
  const calls = state.waiting;
  for (const call of calls) {
    if (decisions.has(call.callId)) continue;
    decisions.set(call.callId, asked ? await deadline.outside(() => askPeople(context, call)) : RESTARTED);
    deadline.signal.throwIfAborted();
  }
  if (calls.some(({ callId }) => decisions.get(callId)?.approve === true)) await saveRecord(context, { acted: true });
  const answer = answerTo(calls, prompt.key, (callId) => decisions.get(callId) ?? NOT_ASKED);
  try {
    const stream = await openStream(client, server, prompt.agentId, answer, deadline.signal);
    context.aliveAt = clock.now();
    await Promise.all(calls.map(({ callId }) => store.lettaAsked.of(callId).delete()));
    for (const { callId, name } of calls) state.tools.set(callId, { callId, name, ok: undefined });
    state.waiting = [];
    return await consumeStream(context, stream);
  } catch (error) {
    deadline.signal.throwIfAborted();
    context.losses += 1;
    const { retry, kind, runId } = troubleOf(error);
    if (kind === 'busy') await waitForBlocker(context, runId);
    // The decision may have arrived, or the request was decided elsewhere: recovery reads the server's current state.
    const mayBeThere = retry || kind === 'refused' || kind === 'nothing-pending';
    return mayBeThere && context.losses <= MOST_LOSSES ? { do: 'recover' } : { do: 'fail', error };
  }
}

/** Asks people for a decision. The request is stored before; if the question cannot be posted, it is denied. */
async function askPeople(context: PromptContext, { callId, name, input }: WaitingCall): Promise<ApprovalDecision> {
  const { store, prompt, clock, log, stopped } = context;
  const { agentId, key, place } = prompt;
  const request = { agentId, key, callId, tool: name, input, place };
  await store.lettaAsked.of(callId).set({ ...request, guildId: place.guildId, at: clock.now() });
  const ended = linkSignals(stopped);
  try {
    return await Promise.race([context.ask(request, stopped), aborted(ended.signal)]);
  } catch (error) {
    log.warn('an approval could not be asked for', { agentId, tool: name, error });
    return NOT_ASKED;
  } finally {
    ended.release();
  }
}

/** Resolves with a denial when the bot stops; the next process sends it. */
function aborted(signal: AbortSignal): Promise<ApprovalDecision> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(RESTARTED);
    signal.addEventListener('abort', () => resolve(RESTARTED), { once: true });
  });
}

/** Time limit for a denial, for each agent. */
const PATIENCE_MS = 60_000;

/**
 * Denies requests that an earlier process has left open. A denial that cannot be sent now stays stored; the agent's next prompt sends it. Resolves with the
 * number of denied requests.
 */
export async function recoverApprovals(parts: PromptServices, connect: Connect): Promise<number> {
  const open = new Map<string, AskedApproval[]>();
  for await (const [, asked] of parts.store.lettaAsked.entries()) {
    const of = `${asked.agentId} ${asked.key}`;
    open.set(of, [...(open.get(of) ?? []), asked]);
  }
  if (open.size === 0) return 0;
  const client = await connect();
  const denied = await Promise.all([...open.values()].map((asked) => deny(parts, client, asked)));
  return denied.reduce((sum, count) => sum + count, 0);
}

async function deny(parts: PromptServices, client: Letta, asked: readonly AskedApproval[]): Promise<number> {
  const { server, store, clock, log } = parts;
  const [first] = asked;
  if (first === undefined) return 0;
  const { agentId } = first;
  const deadline = createDeadline(clock, PATIENCE_MS, new AbortController().signal);
  const calls = asked.map(({ callId, tool, input }) => ({ callId, name: tool, input }));
  try {
    for await (const _ of await openStream(
      client,
      server,
      agentId,
      answerTo(calls, first.key, () => RESTARTED),
      deadline.signal,
    ));
  } catch (error) {
    // The request was decided elsewhere, or the agent was deleted: there is nothing left to deny.
    const { retry, sentence } = troubleOf(error);
    if (retry) {
      log.warn('a request for approval could not be denied yet', { agentId, sentence, error });
      return 0;
    }
  } finally {
    deadline.end();
  }
  await Promise.all(asked.map(({ callId }) => store.lettaAsked.of(callId).delete()));
  return asked.length;
}

const MOST_RUNS = 20;

/** Denies requests that this process did not store. While one is open, the server refuses every message. */
export async function denyOrphans(context: PromptContext): Promise<void> {
  const { client, server, store, log, deadline, prompt } = context;
  const { agentId } = prompt;
  const calls = await waitingAt(context);
  if (calls.length === 0) return;
  log.warn('denied what the agent was still waiting for', { agentId, tools: calls.map(({ name }) => name) });
  const known = await Promise.all(calls.map(({ callId }) => store.lettaAsked.of(callId).find()));
  const decision = known.some((asked) => asked !== undefined) ? RESTARTED : ORPHANED;
  const answer = answerTo(calls, agentId, () => decision);
  // The stream is read without effect: it belongs to a prompt that has ended.
  for await (const _ of await openStream(client, server, agentId, answer, deadline.signal));
  await Promise.all(calls.map(({ callId }) => store.lettaAsked.of(callId).delete()));
}

/** The calls for which an agent waits: those that the server reports, otherwise those of the latest run that ended with a request. */
async function waitingAt({ client, deadline, prompt }: PromptContext): Promise<readonly WaitingCall[]> {
  const { signal } = deadline;
  const { agentId } = prompt;
  const state = createStreamState();
  const agent = await client.agents.retrieve(agentId, { include: ['agent.pending_approval'] }, { signal });
  if (agent.pending_approval !== undefined && agent.pending_approval !== null) {
    applyChunk(state, agent.pending_approval);
    return state.waiting;
  }
  const { items } = await client.runs.list({ agent_id: agentId, order: 'desc', limit: MOST_RUNS }, { signal });
  const run = items.find(({ stop_reason }) => stop_reason === 'requires_approval');
  if (run !== undefined) for (const message of await messagesOf(client, run.id, signal)) applyChunk(state, message);
  return state.waiting;
}

/**
 * The message with the decisions about a request: Letta requires all of its calls in one message. Its id is derived from them, so that a repeated message is
 * recognised.
 * @param about the prompt's key, or the agent's id, because some models start numbering their calls anew
 */
function answerTo(
  calls: readonly WaitingCall[],
  about: string,
  decided: (callId: string) => ApprovalDecision,
): ApprovalCreate {
  const [first] = calls.map(({ callId }) => callId).sort();
  return {
    type: 'approval',
    otid: `approval-${about}-${first}`,
    approvals: calls.map(({ callId }) => {
      const { approve, reason } = decided(callId);
      return { type: 'approval', tool_call_id: callId, approve, ...(reason === undefined ? {} : { reason }) };
    }),
  };
}

const RESTARTED: ApprovalDecision = {
  approve: false,
  reason: 'The bot was restarted before anybody decided.',
};
const ORPHANED: ApprovalDecision = {
  approve: false,
  reason: 'Nobody here knows of this request any more. Ask again if it is still wanted.',
};

const read = z.record(z.string(), z.unknown());

/**
 * Asks for a decision about an approval request with a card in the channel of the prompt: the member whose message the agent answers, or, for an event without
 * a member, the admin who added the agent. Each call has one card, also after a restart.
 */
export function createApprovalCards(stores: RelayStores): AskApproval {
  return async (request, signal) => {
    const actor = await actorOf(request, stores);
    if (actor === undefined) return { approve: false, reason: 'There is nobody who could approve it.' };
    const limitMs = await timeLimitFor(actor, stores);
    const late = new AbortController();
    const either = linkSignals(signal, late.signal);
    const asking = stores.tools.invoke({
      name: APPROVE,
      arguments: { agent: nameOf(request, stores), tool: request.tool, arguments: argumentsOf(request.input) },
      actor,
      origin: PLUGIN,
      key: `${PLUGIN}:${request.key}:${request.callId}`,
      signal: either.signal,
    });
    const decided = asking
      .then((outcome) => (outcome.status === 'deferred' ? outcome.settled : outcome))
      .finally(either.release);
    // The agent does not have to wait until Discord has posted or deleted the card.
    const result = await withinLimit(stores.clock, limitMs, decided);
    if (result.inTime) return decisionOf(result.value);
    late.abort();
    return { approve: false, reason: 'Nobody decided in time.' };
  };
}

const SLACK_MS = 2_000;
const USUAL_SECONDS = 60;

/** The member's time limit of `confirm`, and a margin. */
async function timeLimitFor(actor: Actor, { catalog }: RelayStores): Promise<number> {
  const rules = await catalog.describe('confirm', actor).catch(() => []);
  const limit = rules.find(({ key }) => key === 'timeLimit')?.value;
  return (typeof limit === 'number' ? limit : USUAL_SECONDS) * 1000 + SLACK_MS;
}

function decisionOf(outcome: SettledOutcome): ApprovalDecision {
  if (outcome.status === 'done') return { approve: true };
  return { approve: false, reason: outcome.status === 'failed' ? outcome.error.message : outcome.reason };
}

async function actorOf(
  { agentId, place }: ApprovalRequest,
  { rosters, identities }: RelayStores,
): Promise<Actor | undefined> {
  const { guildId, channelId } = place;
  if (place.userId !== null) return { userId: place.userId, guildId, channelId };
  const key = guildId === null ? undefined : keyOf(guildId, agentId, { rosters });
  if (guildId === null || key === undefined) return undefined;
  const grant = await grantOf(identities, guildIdentity(guildId, key), guildId);
  return grant === undefined ? undefined : { userId: grant.userId, guildId, channelId };
}

function keyOf(guildId: string, agentId: string, { rosters }: Pick<RelayStores, 'rosters'>): string | undefined {
  return Object.entries(rosters.of(guildId)?.agents ?? {}).find(([, agent]) => agent.agentId === agentId)?.[0];
}

function nameOf({ agentId, place: { guildId } }: ApprovalRequest, { rosters }: Pick<RelayStores, 'rosters'>): string {
  const key = guildId === null ? undefined : keyOf(guildId, agentId, { rosters });
  return guildId === null || key === undefined ? agentId : (rosters.of(guildId)?.agents[key]?.name ?? agentId);
}

/** Arguments that cannot be parsed are shown unchanged, so that the card hides nothing. */
function argumentsOf(input: string): Readonly<Record<string, unknown>> {
  try {
    const parsed = read.safeParse(JSON.parse(input));
    if (parsed.success) return parsed.data;
  } catch {
    // Not JSON.
  }
  return { input };
}

const APPROVE = 'relay_approve';

const input = z.object({
  agent: z.string().describe('The agent that wants to use a tool'),
  tool: z.string().describe('The tool, at the Letta server'),
  arguments: z.record(z.string(), z.unknown()).describe('What it is called with'),
});

/**
 * Represents a tool call of an agent that the Letta server holds for approval. Running this tool only records the approval; the server executes the call. So
 * the card, its time limit and the record of the decision are those of every other tool.
 */
export const approveTool: ToolDefinition<typeof input, { readonly approved: true }> = {
  name: APPROVE,
  description: 'Lets an agent of the relay use a tool of its own that needs an approval',
  input,
  risk: 'destructive',
  policy: 'confirm',
  internal: true,
  // Approving the same call again changes nothing.
  idempotent: true,
  present: {
    sentence: ({ agent, tool }) => t("I'll let the agent {agent} use its tool {tool}", { agent, tool }),
    said: ['agent', 'tool'],
    action: 'Approve a tool call of an agent',
    labels: { agent: 'Agent', tool: 'Tool', arguments: 'Arguments' },
    success: () => t('✓ The agent may use its tool.'),
    cancelled: ({ agent, tool }) => t('The agent {agent} may not use its tool {tool}.', { agent, tool }),
  },
  run: () => ({ approved: true }),
};
