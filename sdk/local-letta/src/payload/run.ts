import type { LettaResponse, Message, Run } from '@letta-ai/letta-client/resources/agents/messages';
import type { LettaRun } from '../state/run.js';
import { errorMessage, usage } from './chunks.js';

/** A run as the server shows it. */
export function runState(run: LettaRun): Run {
  return {
    id: run.id,
    agent_id: run.agentId,
    background: run.background,
    conversation_id: run.conversationId,
    created_at: run.createdAt,
    completed_at: run.completedAt,
    status: run.status,
    stop_reason: run.stopReason,
    metadata: {
      run_type: 'send_message',
      ...(run.error === undefined ? {} : { error: errorMessage(run, run.error) }),
    },
  } satisfies Run;
}

/** What a request that is not streamed gets when the run is over. */
export function wholeResponse(run: LettaRun): LettaResponse {
  const messages: Message[] = [...run.said];
  return {
    messages,
    stop_reason: { message_type: 'stop_reason', stop_reason: run.stopReason ?? 'end_turn' },
    usage: usage(run),
  } satisfies LettaResponse;
}
