import { z } from 'zod';
import { Refusal, type Route, read, route, serverChange, serverRequest } from '../http/request.js';
import { mcpServerState, toolState } from '../payload.js';
import { callMcpTool, forgetTools, syncTools, toolsOf } from '../runs/mcp.js';
import { serverOf, toolOf } from './find.js';

const runRequest = z.object({ args: z.record(z.string(), z.unknown()).nullish() });

export const mcpServers: readonly Route[] = [
  route('POST', '/v1/mcp-servers', async ({ body }, world) => {
    const { server_name, config } = read(serverRequest, body);
    if ([...world.servers.values()].some(({ name }) => name === server_name)) {
      throw new Refusal(409, `MCP server with name ${server_name} already exists`);
    }
    const server = {
      id: world.id('mcp_server'),
      name: server_name,
      url: config.server_url,
      authHeader: config.auth_header ?? null,
      authToken: config.auth_token ?? null,
      customHeaders: config.custom_headers ?? {},
    };
    world.servers.set(server.id, server);
    // The server requests the tools at once, and ignores failures.
    await syncTools(world, server).catch(() => undefined);
    return { json: mcpServerState(server) };
  }),
  route('GET', '/v1/mcp-servers', (_, world) => ({ json: [...world.servers.values()].map(mcpServerState) })),
  route('GET', '/v1/mcp-servers/:serverId', (request, world) => ({ json: mcpServerState(serverOf(world, request)) })),
  route('PATCH', '/v1/mcp-servers/:serverId', (request, world) => {
    const server = serverOf(world, request);
    const { server_name, config } = read(serverChange, request.body);
    server.name = server_name ?? server.name;
    server.url = config.server_url ?? server.url;
    // The real server silently ignores `auth_header` and `auth_token` here.
    server.customHeaders = config.custom_headers ?? server.customHeaders;
    return { json: mcpServerState(server) };
  }),
  route('DELETE', '/v1/mcp-servers/:serverId', (request, world) => {
    const server = serverOf(world, request);
    forgetTools(world, toolsOf(world, server));
    world.servers.delete(server.id);
    return { nothing: true };
  }),
  route('PATCH', '/v1/mcp-servers/:serverId/refresh', async (request, world) => {
    const server = serverOf(world, request);
    try {
      return { json: await syncTools(world, server) };
    } catch (error) {
      throw new Refusal(
        404,
        `Error listing tools of ${server.name}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }),
  route('GET', '/v1/mcp-servers/:serverId/tools', (request, world) => ({
    json: toolsOf(world, serverOf(world, request)).map(toolState),
  })),
  route('POST', '/v1/mcp-servers/:serverId/tools/:toolId/run', async (request, world) => {
    const server = serverOf(world, request);
    const { name } = toolOf(world, request);
    const { args } = read(runRequest, request.body);
    const { status, text } = await callMcpTool(server, name, args ?? {}, world.closing.signal);
    return { json: { status, func_return: text, stdout: null, stderr: null } };
  }),
];
