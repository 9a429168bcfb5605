import { linkSignals } from '@cinnabar/sdk';
import type { ApprovalResponseMessage, Message, ToolCall } from '@letta-ai/letta-client/resources/agents/messages';
import type { StopReasonType } from '@letta-ai/letta-client/resources/runs/runs';
import {
  approvalRequest,
  approvalResponse,
  assistant,
  type Calls,
  hiddenReasoning,
  ping,
  type Returned,
  reasoning,
  type SaidMessage,
  tokensOf,
  toolCall,
  toolReturns,
  userMessage,
} from '../payload.js';
import type { AgentTurn, ToolOutcome } from '../script.js';
import type { Decision, LettaAgent, LettaRun, RunFailure, Thread, World } from '../state.js';
import { callMcpTool } from './mcp.js';
import { pause } from './pause.js';
import { emit, finish } from './stream.js';

/** Chooses the script of an agent. */
interface Performance {
  readonly world: World;
  readonly agent: LettaAgent;
  readonly thread: Thread;
  readonly prompt: { readonly text: string; readonly otid: string | null };
}

/** Runs the agent's script. Messages are stored at the end of each step, as on the server: a run that fails before the end of its first step stores nothing. */
export function perform(performance: Performance, first: LettaRun, input: readonly Message[]): void {
  const { world, agent } = performance;
  const { turn, current, store, wait } = createTurn(performance, first, input);
  const play = async () => {
    const script = agent.script ?? world.script ?? (({ prompt, say }) => say(`I have read: ${prompt}`));
    // Gives the client time to read the response's head, as the delay of a model does.
    if (world.latencyMs === 0) await new Promise(setImmediate);
    else await wait(world.latencyMs);
    const said = await script(turn);
    if (typeof said === 'string') turn.say(said);
    store();
    finish(world, current(), 'end_turn');
  };
  play().catch((error: unknown) => {
    if (!(error instanceof RunEnded)) {
      const message = `The script threw: ${String(error)}`;
      return finish(world, current(), 'error', { type: 'internal_error', message, detail: message });
    }
    if (error.failure === undefined && error.reason !== 'cancelled') store();
    finish(world, current(), error.reason, error.failure);
  });
}

/** The methods of a script, and those for its runner. */
interface PlayedTurn {
  readonly turn: AgentTurn;
  /** The current state of the run. */
  current(): LettaRun;
  /** Ends a step, and stores its messages. */
  store(): void;
  wait(ms: number): Promise<void>;
}

/**
 * A message or a call of an agent ends a step; reasoning and waiting before it belong to that step. A run that was cancelled meanwhile ends after the step: its
 * messages are stored, but no longer streamed.
 */
function createTurn(performance: Performance, first: LettaRun, input: readonly Message[]): PlayedTurn {
  const { world, agent, thread, prompt } = performance;
  let run = first;
  let unsaved: Message[] = [...input];
  let inStep = false;

  const store = () => {
    inStep = false;
    if (run.dead) return;
    thread.messages.push(...unsaved);
    unsaved = [];
  };
  /** Called before any part of a step. */
  const think = () => {
    if (run.dead || (!inStep && run.status === 'cancelled')) throw new RunEnded('cancelled');
    inStep = true;
  };
  const step = () => {
    think();
    if (run.usage.steps >= run.maxSteps) throw new RunEnded('max_steps');
    run.usage.steps += 1;
  };
  const tell = (message: SaidMessage, text = '') => {
    run.usage.completionTokens += tokensOf(text);
    unsaved.push(message);
    run.said.push(message);
    if (run.status !== 'cancelled') emit(run, message);
  };
  const callTools = createToolCalls({
    ...performance,
    step,
    think,
    tell,
    store,
    current: () => run,
    becomes: (next, answer) => {
      run = next;
      unsaved.push(answer);
    },
  });
  const wait = async (ms: number) => {
    think();
    if (ms > 0) await pause(world.clock, ms, run.stopped.signal);
    think();
  };

  const turn: AgentTurn = {
    agentId: agent.id,
    agentName: agent.name,
    conversationId: thread.conversationId,
    prompt: prompt.text,
    otid: prompt.otid,
    get runId() {
      return run.id;
    },
    get signal() {
      return run.stopped.signal;
    },
    get tools() {
      return agent.tools.map(({ name }) => name);
    },
    reason(text) {
      think();
      tell(reasoning(world, run, text), text);
    },
    reasonHidden() {
      think();
      tell(hiddenReasoning(world, run));
    },
    say(text) {
      step();
      tell(assistant(world, run, text), text);
      store();
    },
    async callTool(name, input = {}, options = {}) {
      const [outcome] = await callTools([{ name, input, ...options }]);
      if (outcome === undefined) throw new Error('a call has no outcome');
      return outcome;
    },
    callTools,
    alert(text) {
      think();
      unsaved.push(userMessage(world, run, text, world.id('message')));
    },
    ping() {
      think();
      emit(run, ping(world, run));
    },
    wait,
    async hang() {
      think();
      await world.standing.stand(run.stopped.signal);
      think();
    },
    cut() {
      for (const tellListener of [...run.listeners]) tellListener('cut');
    },
    fail(type, message, detail = message): never {
      throw new RunEnded('error', { type, message, detail });
    },
    stop(reason): never {
      throw new RunEnded(reason);
    },
  };
  return { turn, current: () => run, store, wait };
}

interface CallContext extends Performance {
  step(): void;
  think(): void;
  tell(message: SaidMessage, text?: string): void;
  store(): void;
  current(): LettaRun;
  /** The run that continues after a decision, with the message that contains the decision. */
  becomes(run: LettaRun, answer: ApprovalResponseMessage): void;
}

interface Made extends Returned {
  readonly status: ToolOutcome['status'];
}

/** Executes the tool calls of one step: streams them, waits for the approvals that they need, runs them, and streams the outcomes in one message. */
function createToolCalls(parts: CallContext): AgentTurn['callTools'] {
  const { world, agent } = parts;
  return async (wanted) => {
    parts.step();
    const asked = wanted.map(({ name, input = {}, approval = agent.approvals.has(name) }) => ({
      input,
      approval,
      call: { tool_call_id: world.id('call'), name, arguments: JSON.stringify(input) },
    }));
    const free = asked.filter(({ approval }) => !approval).map(({ call }) => call);
    const held = asked.filter(({ approval }) => approval).map(({ call }) => call);
    if (isSome(free)) parts.tell(toolCall(world, parts.current(), free), textOf(free));
    const decisions = isSome(held) ? await askFirst(parts, held) : [];
    const decided = new Map(held.map(({ tool_call_id }, index) => [tool_call_id, decisions[index]]));
    const made: Made[] = [];
    for (const { call, input } of asked) made.push(await carryOut(parts, call, input, decided.get(call.tool_call_id)));
    if (parts.current().dead) throw new RunEnded('cancelled');
    parts.tell(toolReturns(world, parts.current(), made));
    parts.store();
    return made.map(({ status, outcome: { text } }) => ({ status, text }));
  };
}

async function carryOut(
  parts: CallContext,
  call: ToolCall,
  input: Readonly<Record<string, unknown>>,
  decision: Decision | undefined,
): Promise<Made> {
  if (decision?.approve === false) {
    const text = `Error: request to call tool denied. User reason: ${decision.reason ?? 'None'}`;
    return { call, status: 'denied', outcome: { status: 'error', text } };
  }
  const outcome = await make(parts, call.name, input);
  return { call, status: outcome.status, outcome };
}

/** Ends the run with a request for approval. A decision starts another run. */
async function askFirst(parts: CallContext, calls: Calls): Promise<readonly Decision[]> {
  const { world, thread } = parts;
  const request = approvalRequest(world, parts.current(), calls);
  parts.tell(request, textOf(calls));
  parts.store();
  const decided = new Promise<readonly [runId: string, decisions: readonly Decision[] | null]>((resolve) => {
    thread.pending = { messageId: request.id, calls, resume: (...decided) => resolve(decided) };
  });
  finish(world, parts.current(), 'requires_approval');
  const [runId, decisions] = await decided;
  const next = world.runs.get(runId);
  if (decisions === null || next === undefined) throw new RunEnded('cancelled');
  parts.becomes(next, approvalResponse(world, next, calls, decisions));
  parts.think();
  return decisions;
}

async function make(
  { world, agent, current }: CallContext,
  name: string,
  input: Readonly<Record<string, unknown>>,
): Promise<ToolOutcome & { readonly status: 'success' | 'error' }> {
  const tool = agent.tools.find((tool) => tool.name === name);
  if (tool === undefined) return { status: 'error', text: `Tool ${name} not found` };
  try {
    if (typeof tool.home === 'function') return { status: 'success', text: await tool.home(input) };
    const server = world.servers.get(tool.home.serverId);
    if (server === undefined) return { status: 'error', text: `The MCP server ${tool.home.serverName} is gone` };
    const ended = linkSignals(current().stopped.signal, world.closing.signal);
    try {
      return await callMcpTool(server, name, input, ended.signal, agent.secrets);
    } finally {
      ended.release();
    }
  } catch (error) {
    return {
      status: 'error',
      text: `Error calling tool ${name}: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

const isSome = (calls: readonly ToolCall[]): calls is Calls => calls.length > 0;

const textOf = (calls: Calls): string => calls.map((call) => call.arguments).join('');

/** Thrown inside a script to end its run. */
class RunEnded extends Error {
  constructor(
    readonly reason: StopReasonType,
    readonly failure?: RunFailure,
  ) {
    super(`The run has ended: ${reason}.`);
  }
}
