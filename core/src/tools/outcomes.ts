import { CinnabarError, type ErrorCode, type ErrorParams, type LedgerEntry, type SettledOutcome } from '@cinnabar/sdk';

type Refused = Exclude<SettledOutcome, { status: 'done' }>;

/** A failure from the table of coded errors. */
export function failed(callId: string, code: ErrorCode, params: ErrorParams): Refused {
  return failedWith(callId, new CinnabarError(code, params));
}

export function failedWith(callId: string, { code, message }: { code: string; message: string }): Refused {
  return { status: 'failed', callId, error: { code, message } };
}

export function denied(callId: string, tool: string, reasons: string): Refused {
  return { status: 'denied', callId, reason: new CinnabarError('CINNABAR_TOOL_DENIED', { tool, reasons }).message };
}

/** Why it was not done, for the ledger and the audit. */
export function reasonOf(outcome: Refused): string {
  return outcome.status === 'failed' ? outcome.error.message : outcome.reason;
}

/** How a call of an earlier process ended, from its row: of an output only what was kept of its text. */
export function outcomeOf({ id, tool, state, reason = '', text = '', sources, audience }: LedgerEntry): SettledOutcome {
  switch (state) {
    case 'done':
      return {
        status: 'done',
        callId: id,
        output: text,
        text,
        ...(sources === undefined ? {} : { sources }),
        ...(audience === undefined ? {} : { audience }),
      };
    case 'failed':
      return failedWith(id, { code: 'CINNABAR_TOOL_FAILED', message: reason });
    case 'denied':
    case 'expired':
      return { status: state, callId: id, reason };
    case 'unknown':
      return failed(id, 'CINNABAR_TOOL_UNKNOWN_OUTCOME', { tool });
    default:
      // Under way, yet not in this process's memory: another one has it.
      return failed(id, 'CINNABAR_TOOL_STATE', { call: id, state });
  }
}
