import { textOf } from '../payload.js';
import type { McpServer, StandInTool, World } from '../state.js';

/** Requests the tools of a tool server. @throws when it cannot be reached, or refuses the bearer token */
async function listMcpTools(server: McpServer, signal: AbortSignal): Promise<readonly Omit<StandInTool, 'id'>[]> {
  return withClient(server, {}, signal, async (client) => {
    const found: Omit<StandInTool, 'id'>[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, { signal });
      for (const { name, description = '', inputSchema } of page.tools) {
        found.push({ name, description, inputSchema, home: { serverId: server.id, serverName: server.name } });
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return found;
  });
}

/** Calls a tool on its server, in a separate session for each call, as the real one does. */
export async function callMcpTool(
  server: McpServer,
  name: string,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  secrets: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: 'success' | 'error'; readonly text: string }> {
  return withClient(server, secrets, signal, async (client) => {
    const result = await client.callTool({ name, arguments: { ...input } }, undefined, { signal });
    return { status: result.isError === true ? 'error' : 'success', text: textOf(result.content) };
  });
}

type McpClient = InstanceType<typeof import('@modelcontextprotocol/sdk/client/index.js')['Client']>;

async function withClient<T>(
  server: McpServer,
  secrets: Readonly<Record<string, string>>,
  signal: AbortSignal,
  use: (client: McpClient) => Promise<T>,
): Promise<T> {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  signal.throwIfAborted();
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: headersOf(server, secrets) },
  });
  const client = new Client({ name: 'letta', version: '0.16.8' });
  // When a request's connection is lost, the client keeps the request open until its time limit, which uses the wall clock.
  const lost = new Promise<never>((_, reject) => {
    client.onerror = (error) => /disconnected/.test(error.message) && reject(error);
  });
  lost.catch(() => undefined);
  try {
    await client.connect(transport, { signal });
    return await Promise.race([use(client), lost]);
  } finally {
    await transport.terminateSession().catch(() => undefined);
    await client.close();
  }
}

function headersOf(
  { authHeader, authToken, customHeaders }: McpServer,
  secrets: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers = Object.entries(customHeaders).map(([name, value]) => [name, filled(value, secrets)]);
  // With custom headers, the token is omitted.
  if (headers.length > 0 || authToken === null) return Object.fromEntries(headers);
  // The registered token may include the scheme, which is sent once.
  return { [authHeader ?? 'Authorization']: `Bearer ${filled(authToken.replace(/^Bearer\s+/i, ''), secrets)}` };
}

/** Replaces `{{ NAME }}` and `{{ NAME | default }}` by the calling agent's secrets. While one is missing, none is replaced. */
function filled(value: string, secrets: Readonly<Record<string, string>>): string {
  const template = /\{\{\s*([A-Z_][A-Z0-9_]*)\s*(?:\|\s*([^}]+?)\s*)?\}\}/g;
  const result = value.replace(
    template,
    (whole, name: string, fallback: string | undefined) => secrets[name] ?? fallback ?? whole,
  );
  return new RegExp(template.source).test(result) ? value : result;
}

/** The changed tools, by name. */
interface SyncedTools {
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly deleted: readonly string[];
}

/** Requests the server's tools; tools that it no longer has are removed from the agents, too. @throws when the request fails */
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

/** Tool names are unique among all agents: the server that was synchronised last replaces the tool, also for agents that have it. */
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
