import type { AgentEnvironmentVariable, AgentState } from '@letta-ai/letta-client/resources/agents/agents';
import type { ApprovalRequestMessage } from '@letta-ai/letta-client/resources/agents/messages';
import type { LettaAgent } from '../state/agent.js';
import { toolState } from './tool.js';

/** An agent as the server shows it. What was not asked for with `include` is left out, as newer servers do for the approval that waits. */
export function agentState(agent: LettaAgent, include: readonly string[] = []): AgentState {
  const state = {
    id: agent.id,
    agent_type: 'letta_v1_agent',
    name: agent.name,
    system: 'You are an agent that lives in a guild.',
    llm_config: { context_window: 32_000, model: 'stand-in', model_endpoint_type: 'openai' },
    blocks: [],
    memory: { blocks: [] },
    sources: [],
    tags: [],
    tools: agent.tools.map(toolState),
    created_at: agent.createdAt,
    message_ids: agent.own.messages.map(({ id }) => id),
  } satisfies AgentState;
  return {
    ...state,
    ...(include.includes('agent.pending_approval') ? { pending_approval: pendingOf(agent) } : {}),
    ...(include.includes('agent.secrets') ? { secrets: secretsOf(agent) } : {}),
  };
}

function secretsOf({ id, secrets }: LettaAgent): AgentEnvironmentVariable[] {
  return Object.entries(secrets).map(([key, value]) => ({ agent_id: id, key, value }));
}

function pendingOf({ own }: LettaAgent): ApprovalRequestMessage | null {
  const found = own.messages.find(({ id }) => id === own.pending?.messageId);
  return found?.message_type === 'approval_request_message' ? found : null;
}
