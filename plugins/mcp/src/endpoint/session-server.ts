import { type Clock, type Tools, toMcpTool } from '@cinnabar/sdk';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../tokens/caller.js';
import { callHostTool, mayUse } from './call.js';
import { createProgressReporter } from './progress.js';

export interface SessionParts {
  readonly tools: Tools;
  readonly clock: Clock;
  readonly version: string;
  readonly waitMs: number;
  /** The longest text of a result. */
  readonly mostCharacters: number;
}

const INSTRUCTIONS =
  'Tools of a Discord bot. They act for one member in one channel, or for an agent as far as it was let in. Some calls wait there for a confirmation: a result that begins with ' +
  '"Not run yet" means that nothing has happened so far.';

/** The host's tools for one session, and so for one member or agent. */
export function createSessionServer(
  caller: Caller,
  { tools, clock, version, waitMs, mostCharacters }: SessionParts,
): Server {
  const instructions = `${INSTRUCTIONS} A result holds at most ${mostCharacters} characters of text; one that would be longer says how to get the rest.`;
  const server = new Server({ name: 'cinnabar', version }, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const actor = await caller.actor();
    const offered = actor === undefined ? [] : await tools.offered(actor);
    return { tools: offered.filter(({ name }) => mayUse(caller, name)).map(toMcpTool) };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, _meta, sendNotification }) => {
    const progress = createProgressReporter(_meta?.progressToken, sendNotification);
    return callHostTool(params.name, params.arguments, {
      tools,
      clock,
      caller,
      waitMs,
      mostCharacters,
      signal,
      progress,
    });
  });
  return server;
}
