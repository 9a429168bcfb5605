import type { StreamableHTTPMcpServer } from '@letta-ai/letta-client/resources/mcp-servers/mcp-servers';
import type { McpServer } from '../state/mcp-server.js';

/** A registered server as the API shows it, token and all. */
export function mcpServerState(server: McpServer): StreamableHTTPMcpServer {
  return {
    mcp_server_type: 'streamable_http',
    id: server.id,
    server_name: server.name,
    server_url: server.url,
    auth_header: server.authHeader,
    auth_token: server.authToken,
    custom_headers: { ...server.customHeaders },
  } satisfies StreamableHTTPMcpServer;
}
