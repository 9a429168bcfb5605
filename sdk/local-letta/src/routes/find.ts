import { type LettaRequest, Refusal } from '../http/request.js';
import {
  type IdPrefix,
  isId,
  type LettaAgent,
  type LettaRun,
  type McpServer,
  type StandInTool,
  type Thread,
  type World,
} from '../state.js';

function idIn({ params }: LettaRequest, name: string, prefix: IdPrefix): string {
  const id = params[name] ?? '';
  if (!isId(prefix, id))
    throw new Refusal(422, `[{'loc': ('path', '${name}'), 'msg': "String should match pattern '${prefix}-{uuid4}'"}]`);
  return id;
}

function found<T>(thing: T | undefined, sentence: string): T {
  if (thing === undefined) throw new Refusal(404, sentence);
  return thing;
}

export function agentOf(world: World, request: LettaRequest): LettaAgent {
  return found(world.agents.get(idIn(request, 'agentId', 'agent')), 'Agent not found');
}

export function runOf(world: World, request: LettaRequest): LettaRun {
  const id = idIn(request, 'runId', 'run');
  return found(world.runs.get(id), `Run with id ${id} not found`);
}

export function toolOf(world: World, request: LettaRequest): StandInTool {
  const id = idIn(request, 'toolId', 'tool');
  return found(world.tools.get(id), `Tool with id ${id} not found`);
}

export function serverOf(world: World, request: LettaRequest): McpServer {
  const id = idIn(request, 'serverId', 'mcp_server');
  return found(world.servers.get(id), `MCP server with id ${id} not found`);
}

/** The agent that a request's body names. */
export function agentIn(body: unknown): string {
  return typeof body === 'object' && body !== null && 'agent_id' in body ? String(body.agent_id) : '';
}

/** A conversation with its agent. `default` is the agent's own. */
export function conversationOf(world: World, { params, query, body }: LettaRequest): readonly [LettaAgent, Thread] {
  if (!world.conversations) throw new Refusal(404, 'Not Found');
  const id = params.conversationId ?? '';
  if (id === 'default') {
    const agentId = query.get('agent_id') ?? agentIn(body);
    const agent = found(world.agents.get(agentId), `Agent with ID ${agentId} not found`);
    return [agent, agent.own];
  }
  for (const agent of world.agents.values()) {
    const thread = agent.conversations.get(id);
    if (thread !== undefined) return [agent, thread];
  }
  throw new Refusal(404, `Conversation ${id} not found`);
}
