import { CinnabarError, type ErrorCode, type ErrorParams, type SettledOutcome } from '@cinnabar/sdk';

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
