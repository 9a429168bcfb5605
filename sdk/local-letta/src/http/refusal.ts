/** An answer that is an error, in the server's form: `{ "detail": … }`. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly detail: unknown,
    /** Beside `detail`. */
    readonly more: Readonly<Record<string, unknown>> = {},
  ) {
    super(`${status}: ${JSON.stringify(detail)}`);
  }
}

/** What the server answers to a message while a call waits for somebody's approval. */
export function pendingApproval(messageId: string): Refusal {
  return new Refusal(409, { code: 'PENDING_APPROVAL', message: PENDING, pending_request_id: messageId });
}

export const PENDING =
  'Cannot send a new message: The agent is waiting for approval on a tool call. Please approve or deny the pending request before continuing.';
