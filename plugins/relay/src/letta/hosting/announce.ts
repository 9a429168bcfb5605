import { OperatorError } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';
import type { McpServerCreateParams } from '@letta-ai/letta-client/resources/mcp-servers/mcp-servers';
import { troubleOf } from '../server/trouble.js';
import { bearerOfAgent } from './bearer.js';
import type { HostRegistration } from './register.js';

/**
 * Registers the host's MCP server, or corrects what is registered. The Letta server asks a new one for its tools at once.
 * @throws OperatorError when it refuses the address
 */
export async function announce(
  client: Letta,
  host: HostRegistration,
): Promise<{ readonly serverId: string; readonly isNew: boolean }> {
  const { serverName } = host;
  const known = (await client.mcpServers.list()).find(({ server_name }) => server_name === serverName);
  try {
    if (known?.id !== undefined) {
      await client.mcpServers.update(known.id, { config: configOf(host) });
      return { serverId: known.id, isNew: false };
    }
    const created = await client.mcpServers.create({ server_name: serverName, config: configOf(host, host.lister) });
    if (created.id === undefined) throw new Error('the Letta server gave the MCP server no id');
    await client.mcpServers.update(created.id, { config: configOf(host) });
    return { serverId: created.id, isNew: true };
  } catch (error) {
    if (troubleOf(error).kind !== 'refused') throw error;
    throw new OperatorError(
      `The Letta server does not take ${host.url} as the address of the bot's tools. It has to be one that the server can reach; newer ones refuse addresses of a private network.`,
      "The Letta server does not take the address of the bot's tools. The bot’s owner can see why.",
      { cause: error },
    );
  }
}

/** Has the Letta server ask for the tools again. @returns the names of those that it has dropped for all agents */
export async function listAnew(client: Letta, host: HostRegistration, serverId: string): Promise<readonly string[]> {
  await client.mcpServers.update(serverId, { config: configOf(host, host.lister) });
  try {
    return droppedBy(await client.mcpServers.refresh(serverId));
  } catch (error) {
    // It cannot reach the host: what it has not got is missing.
    if (troubleOf(error).kind !== 'unknown-agent') throw error;
    return [];
  } finally {
    await client.mcpServers.update(serverId, { config: configOf(host) });
  }
}

/**
 * The bearer goes by a header of its own: of an authorisation token servers take no change once they are registered. Where there is such a
 * header, they leave a token out that an earlier version of this bot has registered.
 * @param lister with whose bearer the tools are listed: there is no agent that asks for the list
 */
function configOf({ url }: HostRegistration, lister?: string) {
  return {
    mcp_server_type: 'streamable_http' as const,
    server_url: url,
    custom_headers: { Authorization: `Bearer ${bearerOfAgent(lister)}` },
  } satisfies McpServerCreateParams['config'];
}

function droppedBy(refreshed: unknown): readonly string[] {
  if (typeof refreshed !== 'object' || refreshed === null || !('deleted' in refreshed)) return [];
  const { deleted } = refreshed;
  const names: readonly unknown[] = Array.isArray(deleted) ? deleted : [];
  return names.map(String);
}
