import type { IdentityGrant, Tools } from '@cinnabar/sdk';
import { allowed, FIRST_TOOLS } from './identity.js';

const DISCORD = 'discord_';

/** What a new agent may do: whatever only reads of Discord, answering, and reacting. Also tools that the host does not have yet. */
export function firstTools(tools: Tools): IdentityGrant['tools'] {
  const reading = tools.list().filter(({ name, risk }) => name.startsWith(DISCORD) && risk === 'read');
  return allowed([...new Set([...FIRST_TOOLS, ...reading.map(({ name }) => name)])]);
}
