import type { MessageRequest, SentMessage } from '../http/body.js';
import { PENDING, pendingApproval, Refusal } from '../http/refusal.js';
import type { Decision, LettaAgent, PendingApproval, Thread } from '../state/agent.js';
import type { LettaRun } from '../state/run.js';
import type { World } from '../state/world.js';
import { type RunOptions, refusedRun, resumeRun, startRun } from './start.js';
import { textOf } from './text.js';

/**
 * What a request to an agent comes to: a run. One with ids that have had a run in the background gets that run again, which the client's
 * types promise for background streaming only.
 * @throws Refusal 409 for a message while an approval waits, 400 for an approval that nobody asked for, 503 without background runs
 */
export function receive(world: World, agent: LettaAgent, thread: Thread, request: MessageRequest): LettaRun {
  const sent = messagesOf(request);
  const first = sent[0];
  if (first === undefined) throw new Refusal(422, 'Messages must not be empty');
  const background = request.streaming && request.background;
  if (background && !world.background) {
    throw new Refusal(
      503,
      'Background streaming requires Redis to be running. Please ensure Redis is properly configured.',
    );
  }
  const otids = sent.flatMap(({ otid }) => (otid === null || otid === undefined ? [] : [otid]));
  if (background && world.deduplicates && otids.length > 0) {
    const earlier = [...world.runs.values()].find((run) => answers(run, agent, otids));
    if (earlier !== undefined) return earlier;
  }
  const options: RunOptions = {
    background,
    pings: request.streaming && request.include_pings,
    maxSteps: request.max_steps,
    otids,
  };
  if (first.type === 'approval') {
    return resumeRun(world, agent, thread, decisionIn(first, thread.pending), options);
  }
  if (thread.pending !== undefined) {
    if (!background || world.conflict === 'refused') throw pendingApproval(thread.pending.messageId);
    return refusedRun(world, agent, thread, options, { type: 'internal_error', message: PENDING });
  }
  const text = sent.map((message) => ('content' in message ? textOf(message.content) : '')).join('\n');
  return startRun(world, agent, thread, { text, otid: first.otid ?? null }, options);
}

function messagesOf({ messages, input }: MessageRequest): readonly SentMessage[] {
  if (messages !== null && messages !== undefined) return messages;
  return input === null || input === undefined ? [] : [{ role: 'user', content: input }];
}

function answers(run: LettaRun, agent: LettaAgent, otids: readonly string[]): boolean {
  return run.background && run.agentId === agent.id && run.otids.join('|') === otids.join('|');
}

function decisionIn(
  answer: Extract<SentMessage, { type: 'approval' }>,
  pending: PendingApproval | undefined,
): Decision {
  if (pending === undefined) {
    throw new Refusal(
      400,
      'Cannot process approval response: No tool call is currently awaiting approval. Please send a regular message to interact with the agent.',
    );
  }
  const { approvals } = answer;
  if (approvals === null || approvals === undefined) {
    if (answer.approval_request_id !== pending.messageId)
      throw new Refusal(400, wrongIds([pending.call.tool_call_id], []));
    return { approve: answer.approve === true, reason: answer.reason ?? null };
  }
  const decided = approvals.find(({ tool_call_id }) => tool_call_id === pending.call.tool_call_id);
  if (decided === undefined || approvals.length !== 1) {
    throw new Refusal(
      400,
      wrongIds(
        [pending.call.tool_call_id],
        approvals.map(({ tool_call_id }) => tool_call_id),
      ),
    );
  }
  return { approve: decided.approve, reason: decided.reason ?? null };
}

function wrongIds(expected: readonly string[], received: readonly string[]): string {
  return `Invalid tool call IDs. Expected '${JSON.stringify(expected)}', but received '${JSON.stringify(received)}'.`;
}
