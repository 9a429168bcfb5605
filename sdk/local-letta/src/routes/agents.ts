import { agentChange, agentRequest, read } from '../http/body.js';
import { page } from '../http/page.js';
import { Refusal } from '../http/refusal.js';
import { type LettaRequest, type Route, route } from '../http/route.js';
import { agentState } from '../payload/agent.js';
import { toolState } from '../payload/tool.js';
import { createAgent } from '../state/create-agent.js';
import { agentOf, toolOf } from './find.js';

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
    // All of them at once: those that are not named are gone.
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
    // The server tells clients from 1.0 on nothing more.
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
