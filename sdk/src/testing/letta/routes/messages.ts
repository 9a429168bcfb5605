import { messageRequest, read } from '../http/body.js';
import { page } from '../http/page.js';
import { Refusal } from '../http/refusal.js';
import { type Answer, type LettaRequest, type Route, route } from '../http/route.js';
import { wholeResponse } from '../payload/run.js';
import { cancelRun } from '../runs/cancel.js';
import { over } from '../runs/over.js';
import { receive } from '../runs/receive.js';
import type { LettaAgent, Thread } from '../state/agent.js';
import type { World } from '../state/world.js';
import { agentOf, conversationOf } from './find.js';

export const messages: readonly Route[] = [
  route('POST', '/v1/agents/:agentId/messages', (request, world) => {
    const agent = agentOf(world, request);
    return send(world, agent, agent.own, request, false);
  }),
  route('POST', '/v1/agents/:agentId/messages/stream', (request, world) => {
    const agent = agentOf(world, request);
    return send(world, agent, agent.own, request, true);
  }),
  route('GET', '/v1/agents/:agentId/messages', (request, world) => ({
    json: page(agentOf(world, request).own.messages, request),
  })),
  route('POST', '/v1/agents/:agentId/messages/cancel', (request, world) => {
    const agent = agentOf(world, request);
    return { json: cancel(world, agent, named(request.body) ?? active(world, agent)) };
  }),
  route('POST', '/v1/conversations/:conversationId/messages', (request, world) => {
    const [agent, thread] = conversationOf(world, request);
    return send(world, agent, thread, request, true);
  }),
  route('GET', '/v1/conversations/:conversationId/messages', (request, world) => ({
    json: page(conversationOf(world, request)[1].messages, request),
  })),
];

/** A streamed answer, or the whole of it once the run is over. */
async function send(
  world: World,
  agent: LettaAgent,
  thread: Thread,
  { body }: LettaRequest,
  streamed: boolean,
): Promise<Answer> {
  const asked = read(messageRequest, body);
  const streaming = streamed || asked.streaming;
  if (!streaming && (asked.background || asked.stream_tokens)) {
    throw new Refusal(
      422,
      'Streaming options set without streaming enabled. background can only be true when streaming=true.',
    );
  }
  const run = receive(world, agent, thread, { ...asked, streaming });
  if (streaming) return { stream: run, after: 0 };
  await over(run);
  if (run.error !== undefined) throw new Refusal(500, run.error.message);
  return { json: wholeResponse(run) };
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
  if (runIds.length === 0) throw new Refusal(409, `No active runs to cancel for agent ${agent.id}`);
  return Object.fromEntries(
    runIds.map((id) => {
      const run = world.runs.get(id);
      if (run === undefined || run.agentId !== agent.id) return [id, 'failed'];
      cancelRun(world, agent, run);
      return [id, 'cancelled'];
    }),
  );
}
