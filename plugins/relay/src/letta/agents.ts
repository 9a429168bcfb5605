import { createKeyedMutex } from '@cinnabar/sdk';
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
  forgetKept,
  keptOf,
  type Prompt,
  type PromptServices,
} from './runs/prompt-context.js';

/** The Letta server whose address is in the settings, or else in the environment. */
export interface LettaServers {
  /** Its agents. @throws UserError when the address or the key cannot be right */
  agents(): Promise<Agents>;
  /** Identifies an agent across servers: its server's address and its id. */
  globalName(agentId: string): Promise<string>;
}

/** Follows the setting: another address is another server, from the next message on. */
export function createLettaServers(context: RelayContext, ask: AskApproval): LettaServers {
  const { settings, env, collections: store, services, log } = context;
  const servers = new Map<string | undefined, { readonly agents: Agents; recovered: Promise<unknown> | undefined }>();
  const address = async () => (await settings.global.get()).baseUrl ?? env.LETTA_BASE_URL;
  const make = (baseUrl: string | undefined) =>
    createAgents({ address: { baseUrl, apiKey: env.LETTA_API_KEY }, store, ask, clock: services.clock, log });

  return {
    async agents() {
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
    globalName: async (agentId) => `${(await address()) ?? 'cloud'} ${agentId}`,
  };
}

interface AgentsParts extends Omit<PromptServices, 'server'> {
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
  const parts: PromptServices = { ...rest, server: createServerFindings() };
  const { store, clock, log } = parts;
  // A server makes no promise about two messages to one agent at the same time.
  const agentMutex = createKeyedMutex();
  const prune = createPruning(store, clock, log);
  const knownTools = createKnownTools(connect, clock, log);

  return {
    async converse(prompt, signal, onEvent) {
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

interface AgentInfo {
  readonly id: string;
  readonly name: string;
  /** Names of its tools. */
  readonly tools: readonly string[];
}

/** The agents of one Letta server. */
export interface Agents {
  /**
   * Tells an agent something, and hears it out: requests for approval are asked for and answered on the way. Never throws. An agent is told
   * one thing after another. A key that was told before is looked for at the server first, and not sent again when it has arrived.
   */
  converse(prompt: Prompt, signal: AbortSignal, onEvent?: (event: AgentEvent) => void): Promise<Conversed>;
  /** Denies every request that an earlier process has left open. Call it once, before anything is told. @returns how many it has answered */
  recover(): Promise<number>;
  /** Which version the server says that it is; `undefined` when it does not say. @throws what went wrong; `troubleOf` has a sentence for it */
  version(): Promise<string | undefined>;
  /** `undefined` when there is no such agent. @throws what went wrong otherwise; `troubleOf` has a sentence for it */
  find(agentId: string): Promise<AgentInfo | undefined>;
  /** Names of the tools that an agent really has; an empty set when the server does not say. Kept for a minute. */
  toolsOf(agentId: string): Promise<ReadonlySet<string>>;
  /** Makes the host's tools known to the server, and gives them to an agent. @throws what went wrong; `troubleOf` has a sentence for it */
  register(host: HostRegistration): Promise<RegisteredHost>;
  /** Takes the host's server, and with it its tools, from the Letta server. */
  unregister(serverName: string): Promise<void>;
  /** Everything of one person that is kept here. */
  of(userId: string): Promise<readonly unknown[]>;
  forget(userId: string): Promise<void>;
}
