import type { McpServer } from '../state/mcp-server.js';
import type { StandInTool } from '../state/tool.js';
import type { World } from '../state/world.js';
import { listMcpTools } from './call-mcp.js';

/** What has changed, by name. */
export interface SyncedTools {
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly deleted: readonly string[];
}

/** Asks the server for its tools; those that it no longer has are taken from the agents, too. @throws when it cannot be asked */
export async function syncTools(world: World, server: McpServer): Promise<SyncedTools> {
  const listed = await listMcpTools(server, world.closing.signal);
  const known = toolsOf(world, server);
  const gone = known.filter(({ name }) => !listed.some((tool) => tool.name === name));
  forgetTools(world, gone);
  const added = listed.filter(({ name }) => !known.some((tool) => tool.name === name));
  for (const tool of listed) upsert(world, tool);
  const updated = listed.filter((tool) => !added.includes(tool));
  return { added: names(added), updated: names(updated), deleted: names(gone) };
}

/** There is one tool of a name for everybody: the server that lists it last takes it over, also for the agents that have it. */
function upsert(world: World, tool: Omit<StandInTool, 'id'>): void {
  const known = [...world.tools.values()].find(({ name }) => name === tool.name);
  if (known !== undefined) Object.assign(known, tool);
  else {
    const id = world.id('tool');
    world.tools.set(id, { ...tool, id });
  }
}

export function toolsOf(world: World, server: McpServer): readonly StandInTool[] {
  return [...world.tools.values()].filter(({ home }) => typeof home !== 'function' && home.serverId === server.id);
}

export function forgetTools(world: World, tools: readonly StandInTool[]): void {
  for (const tool of tools) {
    world.tools.delete(tool.id);
    for (const agent of world.agents.values()) {
      const at = agent.tools.indexOf(tool);
      if (at >= 0) agent.tools.splice(at, 1);
    }
  }
}

function names(tools: readonly { readonly name: string }[]): readonly string[] {
  return tools.map(({ name }) => name);
}
