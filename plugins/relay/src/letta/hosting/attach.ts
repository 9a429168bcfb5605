import type { Letta } from '@letta-ai/letta-client';
import type { Tool } from '@letta-ai/letta-client/resources/tools';
import { toolsAt } from './tools-at.js';

/** Leaves the agent with exactly those of the host's tools that it is offered; what else it has stays. */
export async function attachOnly(
  client: Letta,
  {
    agentId,
    serverName,
    offered,
  }: { readonly agentId: string; readonly serverName: string; readonly offered: ReadonlySet<string> },
  hosted: readonly Tool[],
): Promise<{ readonly attached: readonly string[]; readonly detached: readonly string[] }> {
  const has = await toolsAt(client, agentId);
  const ids = new Set(hosted.map(({ id }) => id));
  const ofHost = (tool: Tool) => ids.has(tool.id) || (tool.tags ?? []).includes(`mcp:${serverName}`);
  const detached: string[] = [];
  for (const tool of has.filter(ofHost)) {
    if (ids.has(tool.id) && offered.has(tool.name ?? '')) continue;
    await client.agents.tools.detach(tool.id, { agent_id: agentId });
    detached.push(tool.name ?? tool.id);
  }
  const wanted = hosted.filter(({ name }) => offered.has(name ?? ''));
  for (const tool of wanted) {
    if (!has.some(({ id }) => id === tool.id)) await client.agents.tools.attach(tool.id, { agent_id: agentId });
  }
  return { attached: wanted.map(({ name, id }) => name ?? id), detached };
}
