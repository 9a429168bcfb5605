import { type Route, route } from '../http/route.js';
import { agents } from './agents.js';
import { conversations } from './conversations.js';
import { mcpServers } from './mcp-servers.js';
import { messages } from './messages.js';
import { runs } from './runs.js';
import { tools } from './tools.js';

/** Every endpoint. */
export const routes: readonly Route[] = [
  route('GET', '/v1/health', (_, { version }) => ({ json: { version, status: 'ok' } })),
  ...agents,
  ...conversations,
  ...messages,
  ...runs,
  ...tools,
  ...mcpServers,
];
