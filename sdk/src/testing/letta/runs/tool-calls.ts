import type { ToolCall } from '@letta-ai/letta-client/resources/agents/messages';
import { approvalRequest, type SaidMessage, toolCall, toolReturn } from '../payload/chunks.js';
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
  alive(): void;
  tell(message: SaidMessage, text?: string): void;
  store(): void;
  current(): LettaRun;
  becomes(run: LettaRun): void;
}

/** A script's tool calls: told, approved where they have to be, made, and told of again. */
export function createToolCalls(parts: Parts): AgentTurn['callTool'] {
  const { world, agent } = parts;
  return async (name, input = {}, { approval = agent.approvals.has(name) } = {}) => {
    parts.step();
    const call = { tool_call_id: world.id('call'), name, arguments: JSON.stringify(input) };
    if (approval) {
      const { approve, reason } = await askFirst(parts, call);
      if (!approve) {
        const text = `Error: request to call tool denied. User reason: ${reason ?? 'None'}`;
        parts.tell(toolReturn(world, parts.current(), call, { status: 'error', text }));
        parts.store();
        return { status: 'denied', text };
      }
    } else {
      parts.tell(toolCall(world, parts.current(), call), call.arguments);
    }
    const outcome = await make(parts, name, input);
    parts.alive();
    parts.tell(toolReturn(world, parts.current(), call, outcome));
    parts.store();
    return outcome;
  };
}

/** The run ends with the request. Whoever decides begins another one. */
async function askFirst(parts: Parts, call: ToolCall): Promise<Decision> {
  const { world, thread } = parts;
  const request = approvalRequest(world, parts.current(), call);
  parts.tell(request, call.arguments);
  parts.store();
  const decided = new Promise<readonly [runId: string, decision: Decision | null]>((resolve) => {
    thread.pending = { messageId: request.id, call, resume: (...decided) => resolve(decided) };
  });
  finish(world, parts.current(), 'requires_approval');
  const [runId, decision] = await decided;
  const next = world.runs.get(runId);
  if (next !== undefined) parts.becomes(next);
  if (decision === null) throw new RunEnded('cancelled');
  return decision;
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
