import { createMemoryDriver } from '@cinnabar/core/testing';
import { type LettaStandInOptions, startLettaStandIn } from '@cinnabar/local-letta';
import { createMessageAuthors, posts } from '@cinnabar/plugin-relay/dist/agents/message-authors.js';
import { type Agents, createAgents } from '@cinnabar/plugin-relay/dist/letta/agents.js';
import {
  type AgentEvent,
  type AskApproval,
  lettaCollections,
  type Prompt,
} from '@cinnabar/plugin-relay/dist/letta/runs/prompt-context.js';
import { z } from '@cinnabar/sdk';
import { memoryStorage } from '../../../core/storage/fixture.js';
import { recordingLogger } from '../../../support/logs.js';
import { watchedClock } from '../../../support/watched-clock.js';

export interface LettaOptions extends Omit<LettaStandInOptions, 'clock'> {
  readonly ask?: AskApproval;
}

type ServerAddress = Parameters<typeof createAgents>[0]['address'];

/** The relay's client for a Letta server, the server, and the data that survives restarts. */
export async function startLetta({ ask = deny, ...stand }: LettaOptions = {}) {
  const clock = watchedClock();
  const letta = await startLettaStandIn({ clock, ...stand });
  const log = recordingLogger();
  const driver = createMemoryDriver();
  let storage: ReturnType<typeof memoryStorage>['storage'];
  const open = () => {
    const process = memoryStorage({ driver, log });
    storage = process.storage;
    return process.open({ id: 'relay', collections: lettaCollections }).collections;
  };
  /** The stored data of one user, by key. */
  const keptOf = async (userId: string) => {
    const { relay = {} } = await storage.exportUser(userId);
    return Object.values(kept.parse(relay).collections?.lettaSent ?? {});
  };
  const boot = (
    options: { readonly ask?: AskApproval; readonly key?: string; readonly address?: ServerAddress } = {},
  ): Agents =>
    createAgents({
      address: options.address ?? { baseUrl: letta.baseUrl, apiKey: options.key ?? stand.key ?? 'any' },
      store: open(),
      ask: options.ask ?? ask,
      clock,
      log,
    });
  return {
    letta,
    clock,
    log,
    open,
    boot,
    agents: boot(),
    keptOf,
    /** The messages that agents have written in Discord. */
    authors: createMessageAuthors(memoryStorage().open({ id: 'relay', collections: { posts } }).collections.posts),
    forget: (userId: string) => storage.forgetUser(userId),
    [Symbol.asyncDispose]: () => letta[Symbol.asyncDispose](),
  };
}

const kept = z.object({ collections: z.object({ lettaSent: z.record(z.string(), z.unknown()) }).optional() });

const deny: AskApproval = async () => ({ approve: false });

/** The request with a message for an agent; older servers use another route. */
export const SENDING = { route: '/v1/conversations/:conversationId/messages', method: 'POST' } as const;
export const SENDING_TO_AGENT = { route: '/v1/agents/:agentId/messages', method: 'POST' } as const;

export const PLACE = { guildId: '1', channelId: '10', userId: '100' };

export interface PromptOptions extends Partial<Prompt> {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: AgentEvent) => void;
}

/** Sends a prompt to an agent, with defaults for all options. */
export function sendPrompt(agents: Agents, agentId: string, text: string, options: PromptOptions = {}) {
  const { signal = new AbortController().signal, onEvent, ...more } = options;
  return agents.converse({ agentId, text, key: 'batch-1', timeoutMs: 60_000, place: PLACE, ...more }, signal, onEvent);
}
