import { type MessageRequest, PENDING, pendingApproval, Refusal, type SentMessage } from '../http/request.js';
import { ping, textOf, tokensOf, userMessage } from '../payload.js';
import {
  type Decision,
  type LettaAgent,
  type LettaRun,
  type RunFailure,
  type Thread,
  timestamp,
  type World,
} from '../state.js';
import { emit, finish } from './stream.js';
import { perform } from './turn.js';

/** How long a repeated message is recognised, and the longest time for which an agent counts as busy. */
const REMEMBERED_MS = 3 * 60 * 60_000;
const LOCKED_MS = 5 * 60_000;
/** The message that replaces a repeated decision. */
const KEEP_ALIVE =
  '<system-alert>Automated keep-alive ping. Ignore this message and continue from where you stopped.</system-alert>';
const UNKNOWN = 'An unknown error occurred with the LLM streaming request.';

/**
 * Starts a run for a request to an agent. The routes of conversations serialise the runs of a thread, and answer a repeated background request with the earlier
 * run of the same ids; the route of agents does neither. Without Redis, and so without background runs, no route does.
 * @throws Refusal 409 while another run works on the thread, 503 without background runs
 */
export function receive(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  request: MessageRequest,
  route: 'agent' | 'conversation',
): LettaRun {
  const sent = messagesOf(request);
  const first = sent[0];
  if (first === undefined) throw new Refusal(422, 'Messages must not be empty');
  const background = request.streaming && request.background;
  if (background && !world.background) {
    throw new Refusal(
      503,
      'Background streaming requires Redis to be running. Please ensure Redis is properly configured.',
    );
  }
  const otids = sent.flatMap(({ otid }) => (otid === null || otid === undefined ? [] : [otid]));
  if (route === 'conversation' && world.background) {
    const earlier = background ? answering(world, otids) : undefined;
    if (earlier !== undefined) return earlier;
    assertFree(world, agent, thread);
  }
  const options: RunOptions = {
    background,
    pings: request.streaming && request.include_pings,
    maxSteps: request.max_steps,
    otids,
  };
  if (first.type === 'approval') return decide(world, agent, thread, first, options);
  if (thread.pending !== undefined) {
    if (world.conflict === 'refused') throw pendingApproval(thread.pending.messageId);
    const message = `CONFLICT: ${PENDING}`;
    return refusedRun(world, agent, thread, options, { type: 'internal_error', message, detail: message });
  }
  const text = sent.map((message) => ('content' in message ? textOf(message.content) : '')).join('\n');
  return startRun(world, agent, thread, { text, otid: first.otid ?? null }, options);
}

function messagesOf({ messages, input }: MessageRequest): readonly SentMessage[] {
  if (messages !== null && messages !== undefined) return messages;
  return input === null || input === undefined ? [] : [{ role: 'user', content: input }];
}

/** The run for a message with the same ids. As at the server, the sender is not compared. */
function answering(world: World, otids: readonly string[]): LettaRun | undefined {
  const since = world.clock.now() - REMEMBERED_MS;
  return [...world.runs.values()].find(
    (run) =>
      otids.length > 0 &&
      run.background &&
      run.otids.join('|') === otids.join('|') &&
      Date.parse(run.createdAt) >= since,
  );
}

function assertFree(world: World, { id }: LettaAgent, { conversationId }: Thread): void {
  const since = world.clock.now() - LOCKED_MS;
  const holder = [...world.runs.values()].find(
    (run) =>
      run.agentId === id && run.conversationId === conversationId && !run.over && Date.parse(run.createdAt) >= since,
  );
  if (holder === undefined) return;
  const detail = `CONFLICT: Cannot send a new message: Another request (run_id=${holder.id}) is currently being processed for this conversation. Please wait for it to complete.`;
  throw new Refusal(409, detail, { run_id: holder.id });
}

function decide(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  answer: Extract<SentMessage, { type: 'approval' }>,
  options: RunOptions,
): LettaRun {
  const refuse = (detail: string) =>
    refusedRun(world, agent, thread, options, { type: 'internal_error', message: UNKNOWN, detail });
  const { pending } = thread;
  const received = (answer.approvals ?? []).map(({ tool_call_id }) => tool_call_id);
  if (pending === undefined) {
    const isRepeated = received.length > 0 && received.every((id) => thread.decided.includes(id));
    if (isRepeated) return startRun(world, agent, thread, { text: KEEP_ALIVE, otid: world.id('message') }, options);
    return refuse(
      'Cannot process approval response: No tool call is currently awaiting approval. Please send a regular message to interact with the agent.',
    );
  }
  const expected = pending.calls.map(({ tool_call_id }) => tool_call_id);
  const decisions = expected.map((id): Decision | undefined => {
    if (answer.approvals === null || answer.approvals === undefined) {
      const isMeant = answer.approval_request_id === pending.messageId;
      return isMeant ? { approve: answer.approve === true, reason: answer.reason ?? null } : undefined;
    }
    const decided = answer.approvals.find(({ tool_call_id }) => tool_call_id === id);
    return decided === undefined ? undefined : { approve: decided.approve, reason: decided.reason ?? null };
  });
  const all = decisions.flatMap((decision) => decision ?? []);
  if (all.length < expected.length || received.length > expected.length) {
    return refuse(
      `Invalid tool call IDs. Expected '${JSON.stringify(expected)}', but received '${JSON.stringify(received)}'.`,
    );
  }
  return resumeRun(world, agent, thread, all, options);
}

/** The requested form of a run. */
interface RunOptions {
  readonly background: boolean;
  readonly pings: boolean;
  readonly maxSteps: number;
  readonly otids: readonly string[];
}

/** Lets the agent answer a message. */
function startRun(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  prompt: { readonly text: string; readonly otid: string | null },
  options: RunOptions,
): LettaRun {
  const run = createRun(world, agent, thread, options, prompt.text);
  run.usage.promptTokens = tokensOf(prompt.text);
  perform({ world, agent, thread, prompt }, run, [userMessage(world, run, prompt.text, prompt.otid)]);
  return run;
}

/** Lets the agent continue after its approval requests have been answered. */
function resumeRun(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  decisions: readonly Decision[],
  options: RunOptions,
): LettaRun {
  const run = createRun(world, agent, thread, options, null);
  const { pending } = thread;
  thread.pending = undefined;
  thread.decided = (pending?.calls ?? []).map(({ tool_call_id }) => tool_call_id);
  pending?.resume(run.id, decisions);
  return run;
}

/** A run that fails before it begins. */
function refusedRun(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  options: RunOptions,
  failure: RunFailure,
): LettaRun {
  const run = createRun(world, agent, thread, options, null);
  finish(world, run, 'error', failure);
  return run;
}

/** A running run. */
export function createRun(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  options: RunOptions,
  prompt: string | null,
): LettaRun {
  const run: LettaRun = {
    id: world.id('run'),
    agentId: agent.id,
    conversationId: thread.conversationId,
    background: options.background,
    maxSteps: options.maxSteps,
    prompt,
    otids: options.otids,
    createdAt: timestamp(world),
    status: 'running',
    stopReason: null,
    completedAt: null,
    usage: { steps: 0, promptTokens: 0, completionTokens: 0 },
    frames: [],
    said: [],
    error: undefined,
    over: false,
    dead: false,
    stopped: new AbortController(),
    listeners: new Set(),
  };
  world.runs.set(run.id, run);
  world.active.add(run);
  if (options.pings) emit(run, ping(world, run));
  for (const watch of [...world.watchers]) watch();
  return run;
}
