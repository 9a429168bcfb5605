import type { AgentScript } from '../script.js';
import type { LettaAgent, Thread } from './agent.js';
import type { StandInTool } from './tool.js';
import { timestamp, type World } from './world.js';

/** An agent that has been told nothing yet. */
export function createAgent(
  world: World,
  init: { readonly name: string; readonly tools?: readonly StandInTool[]; readonly script?: AgentScript | undefined },
): LettaAgent {
  const agent: LettaAgent = {
    id: world.id('agent'),
    name: init.name,
    createdAt: timestamp(world),
    tools: [...(init.tools ?? [])],
    approvals: new Set(),
    secrets: {},
    own: createThread(null),
    conversations: new Map(),
    script: init.script,
  };
  world.agents.set(agent.id, agent);
  return agent;
}

export function createThread(conversationId: string | null): Thread {
  return { conversationId, messages: [], pending: undefined, decided: [] };
}
