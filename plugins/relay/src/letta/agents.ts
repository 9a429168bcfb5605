import { recoverApprovals } from './approvals/recover.js';
import { converse } from './converse.js';
import { createKnownTools } from './hosting/known-tools.js';
import { registerHost, unregisterHost } from './hosting/register.js';
import { toolsAt } from './hosting/tools-at.js';
import { createPruning, forgetKept, keptOf } from './kept.js';
import { createLanes } from './runs/lanes.js';
import { nothingFound, type TalkParts } from './runs/talk.js';
import { type Connect, createConnect, type ServerAddress } from './server/connect.js';
import { troubleOf } from './server/trouble.js';
import { versionOf } from './server/version.js';
import type { AgentEvent, Agents, Conversed } from './types.js';

export interface AgentsParts extends Omit<TalkParts, 'server'> {
  readonly address: ServerAddress;
}

/**
 * The agents of a Letta server. Nothing is loaded or asked before the first of them is.
 * @throws UserError when the address cannot be one
 * @example
 * const agents = createAgents({ address: { baseUrl: env.LETTA_BASE_URL, apiKey: env.LETTA_API_KEY }, store: collections, ask, clock, log });
 * await agents.recover();
 * const said = await agents.converse({ agentId, text, key, timeoutMs: 60_000, place }, signal);
 */
export function createAgents({ address, ...rest }: AgentsParts): Agents {
  const connect: Connect = createConnect(address);
  const parts: TalkParts = { ...rest, server: nothingFound() };
  const { store, clock, log } = parts;
  const lanes = createLanes();
  const prune = createPruning(store, clock, log);
  const knownTools = createKnownTools(connect, clock, log);

  return {
    async converse(prompt, signal, onEvent) {
      const tell = (event: AgentEvent) => {
        try {
          onEvent?.(event);
        } catch (error) {
          log.error('a listener to an agent failed', { kind: event.kind, error });
        }
      };
      try {
        const client = await connect();
        const said = await lanes.run(prompt.agentId, signal, async () => {
          await prune();
          return converse(parts, client, prompt, signal, tell);
        });
        return said ?? notSent(new Error('the relay was stopped'));
      } catch (error) {
        return notSent(error);
      }
    },
    async recover() {
      await prune();
      return recoverApprovals(parts, connect);
    },
    version: async () => versionOf(await connect()),
    async find(agentId) {
      const client = await connect();
      try {
        const { id, name } = await client.agents.retrieve(agentId);
        const tools = await toolsAt(client, agentId);
        return { id, name, tools: tools.flatMap((tool) => (typeof tool.name === 'string' ? [tool.name] : [])) };
      } catch (error) {
        // What is no id at all is refused before it is looked for.
        if (['unknown-agent', 'refused'].includes(troubleOf(error).kind)) return undefined;
        throw error;
      }
    },
    toolsOf: knownTools.of,
    async register(host) {
      const registered = await registerHost(await connect(), host);
      knownTools.forget(host.agentId);
      return registered;
    },
    unregister: async (serverName) => unregisterHost(await connect(), serverName),
    of: (userId) => keptOf(store, userId),
    forget: (userId) => forgetKept(store, userId),
  };
}

/** Storage that fails, a library that is not there: nothing has been sent. */
function notSent(error: unknown): Conversed {
  return { status: 'failed', retry: true, sentence: 'I could not pass this on to the agent.', error, tools: [] };
}
