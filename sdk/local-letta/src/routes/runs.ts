import type { UsageRetrieveResponse } from '@letta-ai/letta-client/resources/runs/usage';
import { z } from 'zod';
import { messagePage, page, Refusal, type Route, read, route } from '../http/request.js';
import { runState } from '../payload.js';
import { runOf } from './find.js';

const streamRequest = z.object({ starting_after: z.number().int().nullish() });

export const runs: readonly Route[] = [
  route('GET', '/v1/runs', (request, world) => {
    const { query } = request;
    const agent = query.get('agent_id');
    const conversation = query.get('conversation_id');
    const statuses = [...query.getAll('statuses'), ...query.getAll('statuses[]')];
    const all = [...world.runs.values()].filter(
      (run) =>
        (agent === null || run.agentId === agent) &&
        (conversation === null || run.conversationId === conversation) &&
        (statuses.length === 0 || statuses.includes(run.status)) &&
        (query.get('active') !== 'true' || run.status === 'running' || run.status === 'created'),
    );
    return { json: page(all, request).map(runState) };
  }),
  route('GET', '/v1/runs/:runId', (request, world) => ({ json: runState(runOf(world, request)) })),
  route('GET', '/v1/runs/:runId/messages', (request, world) => {
    const run = runOf(world, request);
    const agent = world.agents.get(run.agentId);
    const stored = [
      ...(agent?.own.messages ?? []),
      ...[...(agent?.conversations.values() ?? [])].flatMap(({ messages }) => messages),
    ];
    return {
      json: messagePage(
        stored.filter(({ run_id }) => run_id === run.id),
        request,
        'conversation',
      ),
    };
  }),
  route('GET', '/v1/runs/:runId/usage', (request, world) => {
    const { promptTokens, completionTokens } = runOf(world, request).usage;
    const total_tokens = promptTokens + completionTokens;
    return {
      json: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens,
      } satisfies UsageRetrieveResponse,
    };
  }),
  route('POST', '/v1/runs/:runId/stream', (request, world) => {
    const run = runOf(world, request);
    if (!run.background) throw new Refusal(400, 'Run was not created in background mode, so it cannot be retrieved.');
    return { stream: run, after: read(streamRequest, request.body).starting_after ?? 0 };
  }),
];
