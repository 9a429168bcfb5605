import type { ApprovalCreate } from '@letta-ai/letta-client/resources/agents/messages';
import type { WaitingCall } from '../runs/heard.js';
import type { ApprovalDecision } from '../types.js';

/**
 * The message that answers a request: all of its calls at once, as the server wants it. Its id follows from them, so that it is sent once.
 * @param about the prompt's key, or the agent's id: some models number their calls anew each time
 */
export function answerTo(
  calls: readonly WaitingCall[],
  about: string,
  decided: (callId: string) => ApprovalDecision,
): ApprovalCreate {
  const [first] = calls.map(({ callId }) => callId).sort();
  return {
    type: 'approval',
    otid: `approval-${about}-${first}`,
    approvals: calls.map(({ callId }) => {
      const { approve, reason } = decided(callId);
      return { type: 'approval', tool_call_id: callId, approve, ...(reason === undefined ? {} : { reason }) };
    }),
  };
}

export const RESTARTED: ApprovalDecision = {
  approve: false,
  reason: 'The bot was restarted before anybody decided.',
};
export const ORPHANED: ApprovalDecision = {
  approve: false,
  reason: 'Nobody here knows of this request any more. Ask again if it is still wanted.',
};
