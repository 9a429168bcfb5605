import { type Clock, sleep } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';
import type { MessageCreate } from '@letta-ai/letta-client/resources/agents/agents';
import type {
  ApprovalCreate,
  LettaStreamingResponse,
  Message,
  Run,
} from '@letta-ai/letta-client/resources/agents/messages';
import { troubleOf } from '../errors.js';

export const POLL_MS = 1_000;
/** Streams outlive any request: how long one may take is the deadline's business. */
const STREAM_TIMEOUT_MS = 2 * 60 * 60_000;

/** Resolves with the run once it is over, however it ended. @throws what asking for it comes to; an error when the signal aborts */
export async function overRun(client: Letta, clock: Clock, runId: string, signal: AbortSignal): Promise<Run> {
  for (;;) {
    const run = await client.runs.retrieve(runId, { signal });
    if (isOver(run)) return run;
    await pause(clock, POLL_MS, signal);
  }
}

const PAGE = 100;

/**
 * Everything that a run has left, oldest first. The parts of one message have the same id, and come on one page. A page that brings nothing
 * new is the last one, also from a server that does not know the cursor.
 */
export async function messagesOf(client: Letta, runId: string, signal: AbortSignal): Promise<readonly Message[]> {
  const all: Message[] = [];
  const known = new Set<string>();
  for (;;) {
    const after = all.at(-1)?.id;
    const query = { order: 'asc' as const, limit: PAGE, ...(after === undefined ? {} : { after }) };
    const { items } = await client.runs.messages.list(runId, query, { signal });
    const fresh = items.filter(({ id }) => !known.has(id));
    all.push(...fresh);
    for (const { id } of fresh) known.add(id);
    if (fresh.length === 0 || items.length < PAGE) return all;
  }
}

export async function countMessages(client: Letta, runId: string, signal: AbortSignal): Promise<number> {
  return (await messagesOf(client, runId, signal)).length;
}

/** The rest of a background run's chunks. */
export function restOf(
  client: Letta,
  runId: string,
  after: number,
  signal: AbortSignal,
): Promise<AsyncIterable<LettaStreamingResponse>> {
  const from = { starting_after: after, include_pings: true };
  return client.runs.messages.stream(runId, from, { signal, timeout: STREAM_TIMEOUT_MS });
}

export function isOver({ status }: Run): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** @throws when the signal aborts */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (!(await sleep(clock, ms, signal))) throw new Error('stopped waiting');
}

/** Most steps of a run, so that an agent cannot go round in circles. */
const MAX_STEPS = 50;

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

/** What was found out about a server, as long as this process lives. */
export interface ServerFindings {
  /** Whether it has background runs. */
  background: boolean;
  /** Whether it has routes for conversations. */
  conversations: boolean;
  /** When it last refused a connection, in milliseconds since the Unix epoch. */
  refusedAt: number;
  /** Agents of which it is known that no run of an earlier process is under way. */
  readonly free: Set<string>;
  /** Runs that show as under way, and that nobody works on any more. */
  readonly dead: Set<string>;
  /** Runs that were cancelled, by agent, with the number of their messages then: their step goes on. */
  readonly cancelled: Map<string, CancelledRun>;
}

/** How far a run had come, and when. */
export interface RunMark {
  readonly runId: string;
  readonly messages: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** It makes no progress: its worker is gone. */
  readonly isDead?: true;
}

/** A run that was cancelled, and may be in its last step. */
interface CancelledRun extends RunMark {
  /** When the server took what it was about, in milliseconds since the Unix epoch. */
  readonly since: number;
}

export function createServerFindings(): ServerFindings {
  return {
    background: true,
    conversations: true,
    refusedAt: Number.NEGATIVE_INFINITY,
    free: new Set(),
    dead: new Set(),
    cancelled: new Map(),
  };
}

/** Whether the server itself lets only one run after another work with an agent, and knows a message that comes again. */
export function serializes({ background, conversations }: ServerFindings): boolean {
  return background && conversations;
}
