import { type LedgerEntry, type SettledOutcome, visible } from '@cinnabar/sdk';
import type { Answer } from '../discord/give.js';

/** Why a call that its member cancelled was not run, for the model. */
const CANCELLED = 'the member cancelled it with 👎, so it was not run';
const CANCELLED_BECAUSE = 'the member denied it, so it was not run. Their reason:';

/** Why a call did not run that the member took out of a card whose other calls they confirmed. */
export const LEFT_OUT = 'the member left it out when they confirmed the rest, so it was not run';

/** @param why the member's own words */
export function cancellation(why: string | undefined): string {
  return why === undefined ? CANCELLED : `${CANCELLED_BECAUSE} “${visible(why)}”`;
}

/** Whether the member cancelled it; else it was refused when it was to be run. */
export function wasCancelled({ state, reason = '' }: Pick<LedgerEntry, 'state' | 'reason'>): boolean {
  return state === 'denied' && (reason === CANCELLED || reason === LEFT_OUT || reason.startsWith(CANCELLED_BECAUSE));
}

/** What a member is told of a call that was confirmed. */
export function answerOf(outcome: SettledOutcome): Answer {
  if (outcome.status === 'done') {
    return { text: outcome.text.trim() === '' ? '✓ Done.' : outcome.text, audience: outcome.audience };
  }
  return { text: outcome.status === 'failed' ? outcome.error.message : outcome.reason, notice: true };
}

/** The same from the ledger, after a restart; `undefined` where the card itself says it all. @param cancelled the tool's words for a cancellation */
export function answerTo(row: LedgerEntry, cancelled: string | undefined): Answer | undefined {
  const { id: callId, state, text = '', reason = '', audience } = row;
  switch (state) {
    case 'done':
      return answerOf({ status: 'done', callId, output: text, text, ...(audience === undefined ? {} : { audience }) });
    case 'failed':
      return { text: reason, notice: true };
    case 'denied': {
      const text = wasCancelled(row) ? cancelled : reason;
      return text === undefined ? undefined : { text, notice: true };
    }
    default:
      return undefined;
  }
}
