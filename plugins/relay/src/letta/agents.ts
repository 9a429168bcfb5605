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

/** The Letta server whose address is in the settings, or else in the environment: another address is another server from the next message on. */
export function createLettaServers(context: RelayContext, ask: AskApproval) {
  const { settings, env, collections: store, services, log } = context;
  const servers = new Map<string | undefined, { readonly agents: Agents; recovered: Promise<unknown> | undefined }>();
  const address = async () => (await settings.global.get()).baseUrl ?? env.LETTA_BASE_URL;
  const make = (baseUrl: string | undefined) =>
    createAgents({ address: { baseUrl, apiKey: env.LETTA_API_KEY }, store, ask, clock: services.clock, log });

  return {
    /** Its agents. @throws UserError when the address or the key cannot be right */
    async agents(): Promise<Agents> {
      const url = await address();
      const server = servers.get(url) ?? { agents: make(url), recovered: undefined };
      servers.set(url, server);
      // An agent that waits for a decision that an earlier process asked for takes no other message.
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
 * The agents of a Letta server. Nothing is loaded or requested before the first prompt.
 * @throws UserError when the address cannot be one
 * @example
 * const agents = createAgents({ address: { baseUrl: env.LETTA_BASE_URL, apiKey: env.LETTA_API_KEY }, store: collections, ask, clock, log });
 * await agents.recover();
 * const said = await agents.converse({ agentId, text, key, timeoutMs: 60_000, place }, signal);
 */
export function createAgents({ address, ...rest }: AgentsDependencies) {
  const connect: Connect = createConnect(address);
  const parts: PromptServices = { ...rest, server: createServerFindings() };
  const { store, clock, log } = parts;
  // A server makes no promise about two messages to one agent at the same time.
  const agentMutex = createKeyedMutex();
  const prune = createPruning(store, clock, log);
  const knownTools = createKnownTools(connect, clock, log);

  return {
    /**
     * Sends a prompt to an agent and reads its run to the end; requests for approval are asked for and answered on the way. Never throws. An agent
     * gets one prompt after another. A key that was sent before is looked for at the server first, and not sent again when it has arrived.
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
    /** Denies every request that an earlier process has left open. Call it once, before the first prompt. @returns how many it has answered */
    async recover(): Promise<number> {
      await prune();
      return recoverApprovals(parts, connect);
    },
    /** Which version the server says that it is; `undefined` when it does not say. @throws what went wrong; `troubleOf` has a sentence for it */
    version: async () => versionOf(await connect()),
    /** `undefined` when there is no such agent. @throws what went wrong otherwise; `troubleOf` has a sentence for it */
    async find(agentId: string) {
      const client = await connect();
      try {
        const { id, name } = await client.agents.retrieve(agentId);
        const tools = await toolsAt(client, agentId);
        return { id, name, tools: tools.flatMap((tool) => (typeof tool.name === 'string' ? [tool.name] : [])) };
      } catch (error) {
        // An invalid id is refused without a look-up.
        if (['unknown-agent', 'refused'].includes(troubleOf(error).kind)) return undefined;
        throw error;
      }
    },
    /** Names of the tools that an agent really has; an empty set when the server does not say. Kept for a minute. */
    toolsOf: knownTools.of,
    /** Makes the host's tools known to the server, and gives them to an agent. @throws what went wrong; `troubleOf` has a sentence for it */
    async register(host: HostRegistration): Promise<RegisteredHost> {
      const registered = await registerHost(await connect(), host);
      knownTools.forget(host.agentId);
      return registered;
    },
    /** Takes the host's server, and with it its tools, from the Letta server. */
    unregister: async (serverName: string): Promise<void> => unregisterHost(await connect(), serverName),
  };
}

/** Storage that fails, a library that is not there: nothing has been sent. */
function notSent(error: unknown): Conversed {
  return { status: 'failed', retry: true, sentence: t('I could not pass this on to the agent.'), error, tools: [] };
}
