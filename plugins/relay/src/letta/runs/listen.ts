import type { LettaStreamingResponse } from '@letta-ai/letta-client/resources/agents/messages';
import { isFailure, isRunError, RunFailed, stoppedBy, troubleOf } from '../server/trouble.js';
import { hear } from './heard.js';
import { hasActed, keep, type Next, type Talk } from './talk.js';

/** Hears a run out. */
export async function listen(talk: Talk, stream: AsyncIterable<LettaStreamingResponse>): Promise<Next> {
  const { heard, deadline } = talk;
  heard.stopReason = undefined;
  try {
    for await (const chunk of stream) await take(talk, chunk);
  } catch (error) {
    deadline.signal.throwIfAborted();
    if (!isRunError(error)) return lost(talk, error);
    const { kind } = troubleOf(error);
    if (kind === 'pending-approval' || kind === 'nothing-pending') throw error;
    return failed(talk, error);
  }
  // Whoever aborts a stream makes it end without an error.
  deadline.signal.throwIfAborted();
  if (heard.stopReason === undefined) return lost(talk, new Error('the stream ended before the run did'));
  if (heard.stopReason === 'requires_approval' && heard.waiting.length > 0) return { do: 'decide', asked: true };
  if (heard.stopReason === 'cancelled') return givenUp(new Error('the run was cancelled at the server'));
  if (isFailure(heard.stopReason)) return failed(talk, new RunFailed(heard.runId, { error_type: heard.stopReason }));
  return { do: 'end' };
}

async function take(talk: Talk, chunk: LettaStreamingResponse): Promise<void> {
  const { log, prompt } = talk;
  for (const event of hear(talk.heard, chunk)) {
    if (event.kind === 'reasoning') log.debug('the agent reasons', { agentId: prompt.agentId, text: event.text });
    if (event.kind === 'assistant') log.debug('the agent says', { agentId: prompt.agentId, text: event.text });
    if (event.kind === 'tool-call') {
      log.info('the agent calls a tool', { agentId: prompt.agentId, tool: event.name });
      if (!talk.record.acted) await keep(talk, { acted: true });
    }
    if (event.kind === 'tool-return' && !event.ok) {
      log.warn('a tool of the agent failed', { agentId: prompt.agentId, tool: event.name, text: event.text });
    }
    talk.tell(event);
  }
}

/** The run goes on without a listener: with its id it can be found again. */
function lost(talk: Talk, error: unknown): Next {
  talk.losses += 1;
  if (talk.losses > 3) return { do: 'fail', error };
  talk.log.warn('lost the connection to the agent', { agentId: talk.prompt.agentId, runId: talk.heard.runId, error });
  return { do: 'reattach' };
}

function failed(talk: Talk, error: unknown): Next {
  const isOver = hasActed(talk) || talk.heard.texts.length > 0;
  return isOver ? givenUp(error) : { do: 'fail', error };
}

export function givenUp(error: unknown): Next {
  return { do: 'give-up', error, sentence: stoppedBy(error) };
}
