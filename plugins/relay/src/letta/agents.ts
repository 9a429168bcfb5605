import { createKeyedMutex, t } from '@cinnabar/sdk';
import type { RelayContext } from '../context.js';
import { recoverApprovals } from './approvals.js';
import {
  type Connect,
  createConnect,
  createKnownTools,
  createServerFindings,
  type ServerAddress,
  toolsAt,
  versionOf,
} from './client.js';
import { troubleOf } from './errors.js';
import { type HostRegistration, type RegisteredHost, registerHost, unregisterHost } from './hosting.js';
import { converse } from './runs/converse.js';
import {
  type AgentEvent,
  type AskApproval,
  type Conversed,
  createPruning,
  type Prompt,
  type PromptServices,
} from './runs/prompt-context.js';

export type LettaServers = ReturnType<typeof createLettaServers>;

/** The Letta server at the address in the settings, otherwise in the environment. A changed address takes effect with the next message. */
export function createLettaServers(context: RelayContext, ask: AskApproval) {
  const { settings, env, collections: store, services, log } = context;
  const servers = new Map<string | undefined, { readonly agents: Agents; recovered: Promise<unknown> | undefined }>();
  const address = async () => (await settings.global.get()).baseUrl ?? env.LETTA_BASE_URL;
  const make = (baseUrl: string | undefined) =>
    createAgents({ address: { baseUrl, apiKey: env.LETTA_API_KEY }, store, ask, clock: services.clock, log });

  return {
    /** @throws UserError when the address or key is not valid */
    async agents(): Promise<Agents> {
      const url = await address();
      const server = servers.get(url) ?? { agents: make(url), recovered: undefined };
      servers.set(url, server);
      // An agent that waits for a decision about an earlier process's request accepts no other message.
      server.recovered ??= server.agents.recover().catch((error: unknown) => {
        server.recovered = undefined;
        log.info('requests of agents that an earlier run left open could not be answered yet', { error });
      });
      await server.recovered;
      return server.agents;
    },
    /** Identifies an agent across servers: its server's address and its id. */
    globalName: async (agentId: string) => `${(await address()) ?? 'cloud'} ${agentId}`,
  };
}

interface AgentsDependencies extends Omit<PromptServices, 'server'> {
  readonly address: ServerAddress;
}

export type Agents = ReturnType<typeof createAgents>;

/**
 * The agents of a Letta server. Neither loads the client library nor sends a request before the first prompt.
 * @throws UserError for an invalid address
 * @example
 * const agents = createAgents({ address: { baseUrl: env.LETTA_BASE_URL, apiKey: env.LETTA_API_KEY }, store: collections, ask, clock, log });
 * await agents.recover();
 * const said = await agents.converse({ agentId, text, key, timeoutMs: 60_000, place }, signal);
 */
export function createAgents({ address, ...rest }: AgentsDependencies) {
  const connect: Connect = createConnect(address);
  const parts: PromptServices = { ...rest, server: createServerFindings() };
  const { store, clock, log } = parts;
  // Letta does not define what happens to two concurrent messages to one agent.
  const agentMutex = createKeyedMutex();
  const prune = createPruning(store, clock, log);
  const knownTools = createKnownTools(connect, clock, log);

  return {
    /**
     * Sends a prompt to an agent and reads its run to the end, including decisions about requests for approval. Never throws. An agent gets one prompt after
     * another. A prompt whose key was used before is searched for at the server first, and not sent again if it has arrived.
     */
    async converse(prompt: Prompt, signal: AbortSignal, onEvent?: (event: AgentEvent) => void): Promise<Conversed> {
      const emit = (event: AgentEvent) => {
        try {
          onEvent?.(event);
        } catch (error) {
          log.error('a listener to an agent failed', { kind: event.kind, error });
        }
      };
      try {
        const client = await connect();
        const task = async () => {
          await prune();
          return converse(parts, client, prompt, signal, emit);
        };
        const outcome = await agentMutex.run(prompt.agentId, task, signal);
        return outcome ?? notSent(new Error('the relay was stopped'));
      } catch (error) {
        return notSent(error);
      }
    },
    /** Denies all requests that an earlier process has left open. Call it once, before the first prompt. @returns the number of denied requests */
    async recover(): Promise<number> {
      await prune();
      return recoverApprovals(parts, connect);
    },
    /** The version that the server reports; `undefined` if it reports none. @throws the client's error; `troubleOf` has a sentence for it */
    version: async () => versionOf(await connect()),
    /** `undefined` without such an agent. @throws other errors of the client; `troubleOf` has a sentence for them */
    async find(agentId: string) {
      const client = await connect();
      try {
        const { id, name } = await client.agents.retrieve(agentId);
        const tools = await toolsAt(client, agentId);
        return { id, name, tools: tools.flatMap((tool) => (typeof tool.name === 'string' ? [tool.name] : [])) };
      } catch (error) {
        // The server refuses an invalid id without a look-up.
        if (['unknown-agent', 'refused'].includes(troubleOf(error).kind)) return undefined;
        throw error;
      }
    },
    /** Names of the agent's tools at the server; an empty set when the server does not answer. Cached for a minute. */
    toolsOf: knownTools.of,
    /** Registers the host's tools at the server, and attaches them to an agent. @throws the client's error; `troubleOf` has a sentence for it */
    async register(host: HostRegistration): Promise<RegisteredHost> {
      const registered = await registerHost(await connect(), host);
      knownTools.forget(host.agentId);
      return registered;
    },
    /** Removes the host's MCP server, with its tools, from the Letta server. */
    unregister: async (serverName: string): Promise<void> => unregisterHost(await connect(), serverName),
  };
}

/** The outcome of errors before the request: of the storage, or a missing library. */
function notSent(error: unknown): Conversed {
  return { status: 'failed', retry: true, sentence: t('I could not pass this on to the agent.'), error, tools: [] };
}
