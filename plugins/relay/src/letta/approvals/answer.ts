import type { ApprovalCreate } from '@letta-ai/letta-client/resources/agents/messages';
import type { WaitingCall } from '../runs/heard.js';
import type { ApprovalDecision } from '../types.js';

/** The message that answers a request: all of its calls at once, as the server wants it. Its id follows from them, so that it is sent once. */
export function answerTo(calls: readonly WaitingCall[], decided: (callId: string) => ApprovalDecision): ApprovalCreate {
  return {
    type: 'approval',
    otid: `approval-${calls[0]?.callId}`,
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
