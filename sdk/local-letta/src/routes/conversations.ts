import type { Conversation } from '@letta-ai/letta-client/resources/conversations/conversations';
import { Refusal } from '../http/refusal.js';
import { type Route, route } from '../http/route.js';
import type { LettaAgent, Thread } from '../state/agent.js';
import { createThread } from '../state/create-agent.js';
import { agentIn, conversationOf } from './find.js';

export const conversations: readonly Route[] = [
  route('POST', '/v1/conversations', ({ query, body }, world) => {
    if (!world.conversations) throw new Refusal(404, 'Not Found');
    const agent = world.agents.get(query.get('agent_id') ?? agentIn(body));
    if (agent === undefined) throw new Refusal(404, 'Agent not found');
    const thread = createThread(world.id('conv'));
    agent.conversations.set(thread.conversationId ?? '', thread);
    return { json: conversationState(agent, thread) };
  }),
  route('GET', '/v1/conversations/:conversationId', (request, world) => ({
    json: conversationState(...conversationOf(world, request)),
  })),
];

function conversationState(agent: LettaAgent, thread: Thread): Conversation {
  return { id: thread.conversationId ?? 'default', agent_id: agent.id } satisfies Conversation;
}
