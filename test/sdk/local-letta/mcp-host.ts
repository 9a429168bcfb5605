import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** An MCP server on loopback with `discord_send` and `discord_read_messages`, for clients with the bearer token. */
export interface McpHost extends AsyncDisposable {
  readonly url: string;
  /** The messages sent with `discord_send`. */
  readonly sent: readonly string[];
  /** The token that it accepts; a test may change it. */
  bearer: string;
  /** Names of its tools; a test may change them. */
  offered: readonly string[];
}

export async function startMcpHost(bearer: string): Promise<McpHost> {
  const sent: string[] = [];
  const host = { bearer, sent, offered: ['discord_send', 'discord_read_messages'] };

  const offer = (server: McpServer, name: string) =>
    server.registerTool(name, { description: name, inputSchema: { message: z.string() } }, ({ message }) => {
      if (message === 'broken') return { isError: true, content: [{ type: 'text', text: 'No such channel.' }] };
      sent.push(message);
      return { content: [{ type: 'text', text: `Sent as message ${sent.length}` }] };
    });

  const http = createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${host.bearer}`) return void response.writeHead(401).end();
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const server = new McpServer({ name: 'host', version: '1.0.0' });
    for (const name of host.offered) offer(server, name);
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on('close', () => void server.close());
    void server.connect(transport).then(() => transport.handleRequest(request, response));
  });
  const port = await new Promise<number>((resolve) => {
    http.listen(0, '127.0.0.1', () => {
      const address = http.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  return Object.assign(host, {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      });
    },
  });
}
