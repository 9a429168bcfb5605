import { OperatorError, t, UserError } from '@cinnabar/sdk';
import type { Letta } from '@letta-ai/letta-client';
import type { McpServerCreateParams } from '@letta-ai/letta-client/resources/mcp-servers/mcp-servers';
import type { Tool } from '@letta-ai/letta-client/resources/tools';
import { toolsAt } from './client.js';
import { troubleOf } from './errors.js';

/** What is registered at the Letta server: the host's tools, for one agent. */
export interface HostRegistration {
  readonly agentId: string;
  /** The name of the host's MCP server at the Letta server, which all of its agents share. */
  readonly serverName: string;
  /** The host's address as the Letta server reaches it. */
  readonly url: string;
  /** The agent's bearer token, which determines the identity of its calls. */
  readonly bearer: string;
  /** The bearer token with which the tools are listed; its identity sees the tools of all agents. */
  readonly lister: string;
  /** Names of the tools that the agent's identity may use. */
  readonly offered: ReadonlySet<string>;
}

export interface RegisteredHost {
  readonly serverId: string;
  /** Names of the attached tools. */
  readonly attached: readonly string[];
  /** Names of the tools that were detached. */
  readonly detached: readonly string[];
  /** Tools that the identity may use but the Letta server does not list: it cannot reach the host, or was refused. */
  readonly missing: readonly string[];
  /** Names of tools that the Letta server has removed from all agents, because the latest list did not contain them. */
  readonly dropped: readonly string[];
}

/**
 * Registers the host's tools at the Letta server, and attaches them to an agent. Letta keeps one tool per name for all agents of an organisation, and the latest
 * registration replaces earlier ones. So all agents share one registration, and each has its own bearer token: a secret of the agent that Letta inserts for
 * `{{ … }}` when it calls.
 * @throws OperatorError when the server refuses the address; otherwise the client's error, for which `troubleOf` has a sentence
 */
export async function registerHost(client: Letta, host: HostRegistration): Promise<RegisteredHost> {
  await storeBearer(client, host.agentId, host.bearer);
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

/** Removes the host's MCP server, with its tools, from the Letta server. */
export async function unregisterHost(client: Letta, serverName: string): Promise<void> {
  const server = (await client.mcpServers.list()).find(({ server_name }) => server_name === serverName);
  if (server?.id !== undefined) await client.mcpServers.delete(server.id);
}

function missingIn(tools: readonly Tool[], offered: ReadonlySet<string>): readonly string[] {
  const there = new Set(tools.map(({ name }) => name));
  return [...offered].filter((name) => !there.has(name));
}

/**
 * Registers the host's MCP server, or updates its registration. The Letta server lists the tools of a new one at once.
 * @throws OperatorError when it refuses the address
 */
async function announce(
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
      t(
        "The Letta server does not take {url} as the address of the bot's tools. It has to be one that the server can reach; newer ones refuse addresses of a private network.",
        { url: host.url },
      ),
      t("The Letta server does not take the address of the bot's tools. The bot’s owner can see why."),
      { cause: error },
    );
  }
}

/** Lets the Letta server list the tools again. @returns the names of tools that it has removed from all agents */
async function listAnew(client: Letta, host: HostRegistration, serverId: string): Promise<readonly string[]> {
  await client.mcpServers.update(serverId, { config: configOf(host, host.lister) });
  try {
    return droppedBy(await client.mcpServers.refresh(serverId));
  } catch (error) {
    // The server cannot reach the host. The tools that it does not list are reported as missing.
    if (troubleOf(error).kind !== 'unknown-agent') throw error;
    return [];
  } finally {
    await client.mcpServers.update(serverId, { config: configOf(host) });
  }
}

/**
 * The bearer token is sent in a separate header, because servers do not accept a new authorization token after the registration. If such a header exists, they
 * ignore a token that an earlier version of this bot has registered.
 * @param lister the bearer token for listing the tools, which no agent does
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

/** Attaches the tools that the agent is offered, and detaches the host's other tools. Tools from elsewhere stay. */
async function attachOnly(
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

const SECRET = 'CINNABAR_BEARER';

/**
 * The placeholder for the calling agent's token in a server's registration; calls of an agent without a token are refused.
 * @param lister the token that is used while no agent calls, for listing the tools
 */
function bearerOfAgent(lister: string | undefined): string {
  if (lister === undefined) return `{{ ${SECRET} }}`;
  if (!/^[\w.~+/=-]+$/.test(lister)) throw new Error('a bearer has characters that it cannot have');
  return `{{ ${SECRET} | ${lister} }}`;
}

/**
 * Stores the bearer token in the agent's secrets, which the server replaces all at once.
 * @throws UserError when the server hides the values of the other secrets, which would be lost
 */
async function storeBearer(client: Letta, agentId: string, bearer: string): Promise<void> {
  const agent = await client.agents.retrieve(agentId, { include: ['agent.secrets'] });
  const others = (agent.secrets ?? []).filter(({ key }) => key !== SECRET);
  if (others.some(({ value }) => isHidden(value))) {
    throw new UserError(
      t(
        'The agent has secrets that the Letta server does not show, and they would be lost. Give it one more by hand, {secret}, or take the others away first.',
        { secret: SECRET },
      ),
    );
  }
  const kept = Object.fromEntries(others.map(({ key, value }) => [key, value]));
  await client.agents.update(agentId, { secrets: { ...kept, [SECRET]: bearer } });
}

/** Whether a value is a server's replacement for a secret. */
function isHidden(value: string): boolean {
  return value === '' || /^[*•]+$|^\W*(encrypted|redacted|hidden)\W*$/i.test(value);
}
