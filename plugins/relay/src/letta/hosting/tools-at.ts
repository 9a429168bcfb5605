import type { Letta } from '@letta-ai/letta-client';
import type { Tool } from '@letta-ai/letta-client/resources/tools';

const MOST = 1000;

/** All tools of an agent. */
export async function toolsAt(client: Letta, agentId: string): Promise<readonly Tool[]> {
  return (await client.agents.tools.list(agentId, { limit: MOST })).items;
}
