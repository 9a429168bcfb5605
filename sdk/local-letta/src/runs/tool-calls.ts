import type { ApprovalResponseMessage, ToolCall } from '@letta-ai/letta-client/resources/agents/messages';
import {
  approvalRequest,
  approvalResponse,
  type Calls,
  type Returned,
  type SaidMessage,
  toolCall,
  toolReturns,
} from '../payload/chunks.js';
import type { AgentTurn, ToolOutcome } from '../script.js';
import type { Decision } from '../state/agent.js';
import type { LettaRun } from '../state/run.js';
import type { World } from '../state/world.js';
import { callMcpTool } from './call-mcp.js';
import { RunEnded } from './errors.js';
import type { Performance } from './perform.js';
import { finish } from './stream.js';

interface Parts extends Performance {
  step(): void;
  think(): void;
  tell(message: SaidMessage, text?: string): void;
  store(): void;
  current(): LettaRun;
  /** The run that goes on after a decision, with the message that says what was decided. */
  becomes(run: LettaRun, answer: ApprovalResponseMessage): void;
}

interface Made extends Returned {
  readonly status: ToolOutcome['status'];
}

/** A script's tool calls, those of one step together: told, approved where they have to be, made, and told of again in one message. */
export function createToolCalls(parts: Parts): AgentTurn['callTools'] {
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
  parts: Parts,
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

/** The run ends with the request. Whoever decides begins another one. */
async function askFirst(parts: Parts, calls: Calls): Promise<readonly Decision[]> {
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
  { world, agent, current }: Parts,
  name: string,
  input: Readonly<Record<string, unknown>>,
): Promise<ToolOutcome & { readonly status: 'success' | 'error' }> {
  const tool = agent.tools.find((tool) => tool.name === name);
  if (tool === undefined) return { status: 'error', text: `Tool ${name} not found` };
  try {
    if (typeof tool.home === 'function') return { status: 'success', text: await tool.home(input) };
    const server = world.servers.get(tool.home.serverId);
    if (server === undefined) return { status: 'error', text: `The MCP server ${tool.home.serverName} is gone` };
    return await callMcpTool(server, name, input, anySignal(world, current()), agent.secrets);
  } catch (error) {
    return {
      status: 'error',
      text: `Error calling tool ${name}: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function anySignal(world: World, run: LettaRun): AbortSignal {
  return AbortSignal.any([run.stopped.signal, world.closing.signal]);
}

const isSome = (calls: readonly ToolCall[]): calls is Calls => calls.length > 0;

const textOf = (calls: Calls): string => calls.map((call) => call.arguments).join('');
