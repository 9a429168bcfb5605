import type { Message } from '@letta-ai/letta-client/resources/agents/messages';
import {
  type Answer,
  type LettaRequest,
  messagePage,
  messageRequest,
  Refusal,
  type Route,
  read,
  route,
} from '../http/request.js';
import { wholeResponse } from '../payload.js';
import { receive } from '../runs/receive.js';
import { cancelRun, over } from '../runs/stream.js';
import type { LettaAgent, Thread, World } from '../state.js';
import { agentOf, conversationOf } from './find.js';

export const messages: readonly Route[] = [
  route('POST', '/v1/agents/:agentId/messages', (request, world) => {
    const agent = agentOf(world, request);
    return send(world, agent, agent.own, request, { route: 'agent', streamed: false });
  }),
  route('POST', '/v1/agents/:agentId/messages/stream', (request, world) => {
    const agent = agentOf(world, request);
    return send(world, agent, agent.own, request, { route: 'agent', streamed: true });
  }),
  route('GET', '/v1/agents/:agentId/messages', (request, world) => ({
    json: messagePage(agentOf(world, request).own.messages, request, 'agent'),
  })),
  route('POST', '/v1/agents/:agentId/messages/cancel', (request, world) => {
    const agent = agentOf(world, request);
    return { json: cancel(world, agent, named(request.body) ?? active(world, agent)) };
  }),
  route('POST', '/v1/conversations/:conversationId/messages', (request, world) => {
    const [agent, thread] = conversationOf(world, request);
    return send(world, agent, thread, request, {
      route: 'conversation',
      streamed: read(messageRequest, request.body).streaming ?? true,
    });
  }),
  route('GET', '/v1/conversations/:conversationId/messages', (request, world) => ({
    json: conversationPage(world, request),
  })),
];

/** A stream, or the complete response at the end of the run. */
async function send(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  { body }: LettaRequest,
  { route, streamed }: { readonly route: 'agent' | 'conversation'; readonly streamed: boolean },
): Promise<Answer> {
  const asked = read(messageRequest, body);
  const streaming = streamed || asked.streaming === true;
  if (!streaming && (asked.background || asked.stream_tokens)) {
    throw new Refusal(
      422,
      'Streaming options set without streaming enabled. background can only be true when streaming=true.',
    );
  }
  const run = receive(world, agent, thread, { ...asked, streaming }, route);
  if (streaming) return { stream: run, after: 0 };
  await over(run);
  if (run.error !== undefined) throw new Refusal(500, run.error.message);
  return { json: wholeResponse(run) };
}

/** Messages of `default`, the agent's own conversation, have the order of the agents' route. */
function conversationPage(world: World, request: LettaRequest): Message[] {
  const [agent, thread] = conversationOf(world, request);
  return messagePage(thread.messages, request, thread === agent.own ? 'agent' : 'conversation');
}

function named(body: unknown): readonly string[] | undefined {
  if (typeof body !== 'object' || body === null || !('run_ids' in body) || !Array.isArray(body.run_ids))
    return undefined;
  const ids: readonly unknown[] = body.run_ids;
  return ids.length === 0 ? undefined : ids.map(String);
}

function active(world: World, { id }: LettaAgent): readonly string[] {
  return [...world.active].filter(({ agentId }) => agentId === id).map((run) => run.id);
}

function cancel(world: World, agent: LettaAgent, runIds: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    runIds.map((id) => {
      const run = world.runs.get(id);
      if (run === undefined || run.agentId !== agent.id) return [id, 'failed'];
      cancelRun(world, agent, run);
      return [id, 'cancelled'];
    }),
  );
}
