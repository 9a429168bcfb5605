import type { Letta } from '@letta-ai/letta-client';
import type { Tool } from '@letta-ai/letta-client/resources/tools';
import { announce, listAnew } from './announce.js';
import { attachOnly } from './attach.js';
import { giveBearer } from './bearer.js';

/** The host's tools, for one agent. */
export interface HostRegistration {
  readonly agentId: string;
  /** What the host's MCP server is called at the Letta server: one for all agents that use it. */
  readonly serverName: string;
  /** Where the Letta server reaches it. */
  readonly url: string;
  /** The agent's own: whatever it calls, it calls as this identity. */
  readonly bearer: string;
  /** With whose bearer the tools are listed, once and now: one that sees those of all agents. */
  readonly lister: string;
  /** Names of the tools that the identity is offered. */
  readonly offered: ReadonlySet<string>;
}

export interface RegisteredHost {
  readonly serverId: string;
  /** Names of the tools that the agent has now. */
  readonly attached: readonly string[];
  /** Names of those that it no longer has. */
  readonly detached: readonly string[];
  /** Offered, but the Letta server does not see them: it cannot reach the host, or has not been let in. */
  readonly missing: readonly string[];
  /** Names of tools that the Letta server has dropped for all agents, since whoever listed them did not see them. */
  readonly dropped: readonly string[];
}

/**
 * Makes the host's tools known to the Letta server, and gives them to an agent.
 * @throws OperatorError when the server refuses the address; otherwise what went wrong, for which `troubleOf` has a sentence
 *
 * Letta keeps one tool of a name for all agents of an organisation, and the server that is registered last takes it over. So all agents
 * share one registration, and each brings its own bearer: a secret of the agent that Letta puts in place of `{{ … }}` when it calls.
 */
export async function registerHost(client: Letta, host: HostRegistration): Promise<RegisteredHost> {
  await giveBearer(client, host.agentId, host.bearer);
  const { serverId, isNew } = await announce(client, host);
  let tools = await client.mcpServers.tools.list(serverId);
  let dropped: readonly string[] = [];
  if (!isNew && missingIn(tools, host.offered).length > 0) {
    dropped = await listAnew(client, host, serverId);
    tools = await client.mcpServers.tools.list(serverId);
  }
  const { attached, detached } = await attachOnly(client, host, tools);
  return { serverId, attached, detached, missing: missingIn(tools, host.offered), dropped };
}

/** Takes the host's server, and with it its tools, from the Letta server. */
export async function unregisterHost(client: Letta, serverName: string): Promise<void> {
  const server = (await client.mcpServers.list()).find(({ server_name }) => server_name === serverName);
  if (server?.id !== undefined) await client.mcpServers.delete(server.id);
}

function missingIn(tools: readonly Tool[], offered: ReadonlySet<string>): readonly string[] {
  const there = new Set(tools.map(({ name }) => name));
  return [...offered].filter((name) => !there.has(name));
}
