import type { Conversation } from '@letta-ai/letta-client/resources/conversations/conversations';
import {
  agentChange,
  agentRequest,
  type LettaRequest,
  page,
  Refusal,
  type Route,
  read,
  route,
} from '../http/request.js';
import { agentState, toolState } from '../payload.js';
import { createAgent, createThread, type LettaAgent, type Thread } from '../state.js';
import { agentIn, agentOf, conversationOf, toolOf } from './find.js';

export const agents: readonly Route[] = [
  route('POST', '/v1/agents', ({ body }, world) => {
    const { name, tool_ids } = read(agentRequest, body);
    const tools = (tool_ids ?? []).map((id) => {
      const tool = world.tools.get(id);
      if (tool === undefined) throw new Refusal(404, `Tool with id ${id} not found`);
      return tool;
    });
    return { json: agentState(createAgent(world, { name, tools })) };
  }),
  route('GET', '/v1/agents', (request, world) => {
    const name = request.query.get('name');
    const all = [...world.agents.values()].filter((agent) => name === null || agent.name === name);
    return { json: page(all, request).map((agent) => agentState(agent, included(request))) };
  }),
  route('GET', '/v1/agents/:agentId', (request, world) => ({
    json: agentState(agentOf(world, request), included(request)),
  })),
  route('PATCH', '/v1/agents/:agentId', (request, world) => {
    const agent = agentOf(world, request);
    const { name, secrets } = read(agentChange, request.body);
    agent.name = name ?? agent.name;
    // Replaces all secrets: those that are not named are removed.
    agent.secrets = secrets ?? agent.secrets;
    return { json: agentState(agent) };
  }),
  route('DELETE', '/v1/agents/:agentId', (request, world) => {
    world.agents.delete(agentOf(world, request).id);
    return { json: null };
  }),
  route('GET', '/v1/agents/:agentId/tools', (request, world) => ({
    json: page(agentOf(world, request).tools, request).map(toolState),
  })),
  route('PATCH', '/v1/agents/:agentId/tools/attach/:toolId', (request, world) => {
    const agent = agentOf(world, request);
    const tool = toolOf(world, request);
    if (!agent.tools.includes(tool)) agent.tools.push(tool);
    // From 1.0 on, the server returns no more to clients.
    return { json: null };
  }),
  route('PATCH', '/v1/agents/:agentId/tools/detach/:toolId', (request, world) => {
    const agent = agentOf(world, request);
    const at = agent.tools.indexOf(toolOf(world, request));
    if (at >= 0) agent.tools.splice(at, 1);
    return { json: null };
  }),
];

function included({ query }: LettaRequest): readonly string[] {
  return [...query.getAll('include'), ...query.getAll('include[]')];
}

export const tools: readonly Route[] = [
  route('GET', '/v1/tools', (request, world) => {
    const name = request.query.get('name');
    const all = [...world.tools.values()].filter((tool) => name === null || tool.name === name);
    return { json: page(all, request).map(toolState) };
  }),
  route('GET', '/v1/tools/:toolId', (request, world) => ({ json: toolState(toolOf(world, request)) })),
];

export const conversations: readonly Route[] = [
  route('POST', '/v1/conversations', ({ query, body }, world) => {
    if (!world.conversations) throw new Refusal(404, 'Not Found');
    const agent = world.agents.get(query.get('agent_id') ?? agentIn(body));
    if (agent === undefined) throw new Refusal(404, 'Agent not found');
    const thread = createThread(world.id('conv'));
    agent.conversations.set(thread.conversationId ?? '', thread);
    return { json: conversationState(agent, thread) };
  }),
  route('GET', '/v1/conversations/:conversationId', (request, world) => ({
    json: conversationState(...conversationOf(world, request)),
  })),
];

function conversationState(agent: LettaAgent, thread: Thread): Conversation {
  return { id: thread.conversationId ?? 'default', agent_id: agent.id } satisfies Conversation;
}
