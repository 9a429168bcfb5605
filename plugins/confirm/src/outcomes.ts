import { type LedgerEntry, type SettledOutcome, visible } from '@cinnabar/sdk';
import type { Ending } from './render.js';

/** Why a call ended without a decision, for the model. */
export const REASONS = {
  timedOut: 'nobody confirmed it in time, so it was not run',
  undelivered: 'the confirmation card could not be posted, so it was not run',
  deleted: 'the confirmation card was deleted, so it was not run',
  restarted: 'the bot was restarted before this was decided, so it was not run',
  forgotten: 'the member had their data deleted, so it was not run',
  withdrawn: 'what it was part of was stopped before this was decided, so it was not run',
} as const;

/** Why a call that its member cancelled was not run, for the model. */
const CANCELLED = 'the member cancelled it with 👎, so it was not run';
const CANCELLED_BECAUSE = 'the member denied it, so it was not run. Their reason:';

/** Why a call did not run that the member took out of a card whose other calls they confirmed. */
export const LEFT_OUT = 'the member left it out when they confirmed the rest, so it was not run';

/** @param why the member's own words */
export function cancellation(why: string | undefined): string {
  return why === undefined ? CANCELLED : `${CANCELLED_BECAUSE} “${visible(why)}”`;
}

/** Whether the member cancelled it; otherwise it was refused when it was to be run. */
function wasCancelled({ state, reason = '' }: Pick<LedgerEntry, 'state' | 'reason'>): boolean {
  return state === 'denied' && (reason === CANCELLED || reason === LEFT_OUT || reason.startsWith(CANCELLED_BECAUSE));
}

/** The answer to a call, and whether it is for its requester alone. */
export interface Answer {
  readonly text: string;
  readonly audience?: 'requester' | undefined;
  /** The program's own words, not what a tool returned: for members, and for no model, which has the outcome of its call. */
  readonly notice?: true | undefined;
}

/** The answer to a call that was confirmed. */
export function answerOf(outcome: SettledOutcome): Answer {
  if (outcome.status === 'done') {
    return { text: outcome.text.trim() === '' ? '✓ Done.' : outcome.text, audience: outcome.audience };
  }
  return { text: outcome.status === 'failed' ? outcome.error.message : outcome.reason, notice: true };
}

/** The same from the ledger, after a restart; `undefined` where the card itself says it all. @param cancelled the tool's words for a cancellation */
export function answerFromLedger(row: LedgerEntry, cancelled: string | undefined): Answer | undefined {
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

/** The reasons without a decision that a card shows as its ending. */
const REASONS_SHOWN = ['timedOut', 'withdrawn', 'undelivered'] as const;

/** How a card ends as far as the ledger alone says; without a row it is unknown whether the call ran, because the row is older than the card. */
export function endingFromLedger(row: LedgerEntry | undefined): Ending | undefined {
  if (row === undefined) return 'unknown';
  switch (row.state) {
    case 'done':
    case 'failed':
    case 'unknown':
      return row.state;
    case 'denied':
      return wasCancelled(row) ? 'cancelled' : 'refused';
    default:
      return REASONS_SHOWN.find((key) => REASONS[key] === row.reason);
  }
}
