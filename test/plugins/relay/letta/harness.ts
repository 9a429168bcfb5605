import { openCollection } from '@cinnabar/core/internal/storage/documents/collection';
import { createDocumentStore } from '@cinnabar/core/internal/storage/documents/document-store';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { type LettaStandInOptions, startLettaStandIn } from '@cinnabar/local-letta';
import { type Agents, createAgents } from '@cinnabar/plugin-relay/letta/agents';
import {
  type AgentEvent,
  type AskApproval,
  lettaCollections,
  type Prompt,
} from '@cinnabar/plugin-relay/letta/runs/prompt-context';
import { recordingLogger } from '../../../support/logs.js';
import { watchedClock } from '../../../support/watched-clock.js';

export interface WorldOptions extends Omit<LettaStandInOptions, 'clock'> {
  readonly ask?: AskApproval;
}

/** The relay's side of a Letta server, the server itself, and what is kept between restarts. */
export async function startWorld({ ask = deny, ...stand }: WorldOptions = {}) {
  const clock = watchedClock();
  const letta = await startLettaStandIn({ clock, ...stand });
  const log = recordingLogger();
  const driver = createMemoryDriver();
  const open = () => {
    const vault = createDocumentStore({ driver, log, onProblem: () => undefined });
    const { lettaSent, lettaAsked } = lettaCollections;
    return {
      lettaSent: openCollection(vault, lettaSent, ['relay', 'sent']),
      lettaAsked: openCollection(vault, lettaAsked, ['relay', 'asked']),
    };
  };
  const boot = (
    options: { readonly ask?: AskApproval; readonly key?: string; readonly baseUrl?: string } = {},
  ): Agents =>
    createAgents({
      address: { baseUrl: options.baseUrl ?? letta.baseUrl, apiKey: options.key ?? stand.key ?? 'any' },
      store: open(),
      ask: options.ask ?? ask,
      clock,
      log,
    });
  return { letta, clock, log, open, boot, agents: boot(), [Symbol.asyncDispose]: () => letta[Symbol.asyncDispose]() };
}

const deny: AskApproval = async () => ({ approve: false });

/** The request that brings an agent a message; older servers have another one. */
export const SENDING = { route: '/v1/conversations/:conversationId/messages', method: 'POST' } as const;
export const SENDING_TO_AGENT = { route: '/v1/agents/:agentId/messages', method: 'POST' } as const;

export const PLACE = { guildId: '1', channelId: '10', userId: '100' };

export interface Telling extends Partial<Prompt> {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: AgentEvent) => void;
}

/** Tells an agent something, with defaults for what does not matter. */
export function tell(agents: Agents, agentId: string, text: string, options: Telling = {}) {
  const { signal = new AbortController().signal, onEvent, ...more } = options;
  return agents.converse({ agentId, text, key: 'batch-1', timeoutMs: 60_000, place: PLACE, ...more }, signal, onEvent);
}
