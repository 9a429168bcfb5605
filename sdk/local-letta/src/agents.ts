import type { Message } from '@letta-ai/letta-client/resources/agents/messages';
import { approvalRequest, approvalResponse, textOf, toolReturns } from './payload.js';
import { createRun } from './runs/receive.js';
import { finish } from './runs/stream.js';
import type { AgentScript } from './script.js';
import { createAgent, type LettaAgent, type LocalTool, type World } from './state.js';

export interface LettaAgentInit {
  readonly name?: string;
  readonly script?: AgentScript;
  /** Tools that the stand-in runs itself, like Letta's built-in ones. */
  readonly tools?: Readonly<Record<string, LocalTool>>;
  /** Names of tools that wait for approval. */
  readonly approvals?: readonly string[];
}

export interface AddedAgent {
  readonly id: string;
  readonly name: string;
  /** Names of its current tools. */
  readonly tools: readonly string[];
  /** Whether it waits for an approval; it then accepts no message. */
  readonly pending: boolean;
  /** Every stored message, as `kind: text`, oldest first. */
  readonly history: readonly string[];
  /** Adds an approval request that no client is waiting for. */
  orphanApproval(tool: string, input?: Readonly<Record<string, unknown>>): void;
}

export function addAgent(world: World, init: LettaAgentInit): AddedAgent {
  const tools = Object.entries(init.tools ?? {}).map(([name, home]) => {
    const tool = { id: world.id('tool'), name, description: name, inputSchema: { type: 'object' }, home };
    world.tools.set(tool.id, tool);
    return tool;
  });
  const agent = createAgent(world, { name: init.name ?? 'agent', tools, script: init.script });
  for (const name of init.approvals ?? []) agent.approvals.add(name);
  return {
    id: agent.id,
    name: agent.name,
    get tools() {
      return agent.tools.map(({ name }) => name);
    },
    get pending() {
      return agent.own.pending !== undefined;
    },
    get history() {
      return agent.own.messages.map(line);
    },
    orphanApproval: (tool, input = {}) => leaveOrphan(world, agent, tool, input),
  };
}

function line(message: Message): string {
  switch (message.message_type) {
    case 'user_message':
    case 'assistant_message':
      return `${message.message_type}: ${textOf(message.content)}`;
    case 'tool_call_message':
    case 'approval_request_message':
      return `${message.message_type}: ${message.tool_call.name}`;
    case 'tool_return_message':
      return `${message.message_type}: ${message.tool_return}`;
    default:
      return message.message_type ?? 'message';
  }
}

/** Puts the agent into the state after a client disappeared during an approval. A decision has no further effect. */
function leaveOrphan(world: World, agent: LettaAgent, name: string, input: Readonly<Record<string, unknown>>): void {
  const thread = agent.own;
  const run = createRun(world, agent, thread, { background: false, pings: false, maxSteps: 50, otids: [] }, null);
  const call = { tool_call_id: world.id('call'), name, arguments: JSON.stringify(input) };
  const request = approvalRequest(world, run, [call]);
  thread.messages.push(request);
  thread.pending = {
    messageId: request.id,
    calls: [call],
    resume(runId, decisions) {
      const next = world.runs.get(runId);
      const [decision] = decisions ?? [];
      if (next === undefined || decision === undefined) return;
      const outcome = decision.approve
        ? ({ status: 'success', text: 'Done.' } as const)
        : ({
            status: 'error',
            text: `Error: request to call tool denied. User reason: ${decision.reason ?? 'None'}`,
          } as const);
      thread.messages.push(approvalResponse(world, next, [call], [decision]));
      thread.messages.push(toolReturns(world, next, [{ call, outcome }]));
      finish(world, next, 'end_turn');
    },
  };
  finish(world, run, 'requires_approval');
}
