import type { Letta } from '@letta-ai/letta-client';

const SECRET = 'CINNABAR_BEARER';

/** What stands for the calling agent's bearer where a server is registered. An agent that has none is not let in. */
export const BEARER_OF_AGENT = `{{ ${SECRET} }}`;

/** Gives an agent its bearer, beside the secrets that it has: the server replaces them all at once. */
export async function giveBearer(client: Letta, agentId: string, bearer: string): Promise<void> {
  const agent = await client.agents.retrieve(agentId, { include: ['agent.secrets'] });
  const others = (agent.secrets ?? []).filter(({ key }) => key !== SECRET);
  const kept = Object.fromEntries(others.map(({ key, value }) => [key, value]));
  await client.agents.update(agentId, { secrets: { ...kept, [SECRET]: bearer } });
}
