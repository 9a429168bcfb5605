import { type Clock, type Tools, toMcpTool } from '@cinnabar/sdk';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Grant } from '../tokens/store.js';
import { callHostTool, mayUse } from './call.js';
import { createProgressReporter } from './progress.js';

export interface SessionParts {
  readonly tools: Tools;
  readonly clock: Clock;
  readonly version: string;
  readonly waitMs: number;
}

const INSTRUCTIONS =
  'Tools of a Discord bot. They act for one member in one channel. Some calls wait there for a confirmation: a result that begins with ' +
  '"Not run yet" means that nothing has happened so far.';

/** The host's tools for one session, and so for one member. */
export function createSessionServer(grant: Grant, { tools, clock, version, waitMs }: SessionParts): Server {
  const server = new Server({ name: 'cinnabar', version }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: (await tools.offered(grant.actor)).filter(({ name }) => mayUse(grant, name)).map(toMcpTool),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, _meta, sendNotification }) => {
    const progress = createProgressReporter(_meta?.progressToken, sendNotification);
    return callHostTool(params.name, params.arguments, { tools, clock, grant, waitMs, signal, progress });
  });
  return server;
}
