import { FOR_REQUESTER_ALONE, type LedgerEntry, type PersonaTrigger, type SettledOutcome } from '@cinnabar/sdk';

type Asked = Extract<PersonaTrigger, { type: 'user_input' | 'tool_result' }>;

/** A call that had to wait has ended: what the one who asked for it may want to hear of. */
export function toolResult(asked: Asked, tool: string, outcome: SettledOutcome, at: number): PersonaTrigger {
  const { callId, status } = outcome;
  const { speaker, messageId } = asked;
  return { type: 'tool_result', content: settledText(outcome), at, speaker, tool, callId, status, messageId };
}

/** How a call ended, in words. */
export function settledText(outcome: SettledOutcome): string {
  switch (outcome.status) {
    case 'done':
      return outcome.audience === 'requester' ? FOR_REQUESTER_ALONE : `It ran: ${outcome.text}`;
    case 'failed':
      return `It failed: ${outcome.error.message}`;
    default:
      return `It did not run: ${outcome.reason}`;
  }
}

/**
 * How a call stands that had to wait, by the host's ledger.
 * @param mayShow whether what came from there may be shown to who is answered now
 */
export async function outcomeText(
  entry: LedgerEntry | undefined,
  mayShow: (sources: LedgerEntry['sources']) => Promise<boolean>,
): Promise<string> {
  const because = entry?.reason === undefined ? '' : ` (${entry.reason})`;
  switch (entry?.state) {
    case 'proposed':
    case 'pending':
      return 'not run yet: it waits for the confirmation of the member who asked';
    case 'approved':
    case 'executing':
      return 'confirmed, and running now: there is no result yet';
    case 'done':
      if (entry.audience === 'requester') return FOR_REQUESTER_ALONE;
      return (await mayShow(entry.sources)) ? `ran: ${entry.text ?? 'done'}` : 'ran; its result is not for here';
    case 'denied':
    case 'expired':
      return `did not run${because}`;
    case 'failed':
      return `failed${because}`;
    default:
      return 'nobody knows whether it ran';
  }
}
