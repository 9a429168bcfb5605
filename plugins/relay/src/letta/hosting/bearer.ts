import { UserError } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';

const SECRET = 'CINNABAR_BEARER';

/**
 * What stands for the calling agent's bearer where a server is registered: an agent that has none is not let in.
 * @param lister whose bearer it is where no agent calls, while the tools are listed
 */
export function bearerOfAgent(lister: string | undefined): string {
  if (lister === undefined) return `{{ ${SECRET} }}`;
  if (!/^[\w.~+/=-]+$/.test(lister)) throw new Error('a bearer has characters that it cannot have');
  return `{{ ${SECRET} | ${lister} }}`;
}

/**
 * Gives an agent its bearer, beside the secrets that it has: the server replaces them all at once.
 * @throws UserError when the server hides the others, which would be lost
 */
export async function giveBearer(client: Letta, agentId: string, bearer: string): Promise<void> {
  const agent = await client.agents.retrieve(agentId, { include: ['agent.secrets'] });
  const others = (agent.secrets ?? []).filter(({ key }) => key !== SECRET);
  if (others.some(({ value }) => isHidden(value))) {
    throw new UserError(
      `The agent has secrets that the Letta server does not show, and they would be lost. Give it one more by hand, ${SECRET}, or take the others away first.`,
    );
  }
  const kept = Object.fromEntries(others.map(({ key, value }) => [key, value]));
  await client.agents.update(agentId, { secrets: { ...kept, [SECRET]: bearer } });
}

/** What servers show in place of a secret. */
function isHidden(value: string): boolean {
  return value === '' || /^[*•]+$|^\W*(encrypted|redacted|hidden)\W*$/i.test(value);
}
