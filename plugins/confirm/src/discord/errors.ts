/** Discord's JSON error codes (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json) for what is not there or not for us. */
const GONE = new Set<unknown>([10003, 10008, 50001, 50013]);

/** Discord's own codes start here; lower numbers are an aborted connection's, which says nothing of what was done. */
const LOWEST_CODE = 10_000;

/** Whether Discord has answered, and has not done it. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && error.code >= LOWEST_CODE;
}

/** Whether there is no point in trying again: channel or message unknown, access or permission missing. */
export function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && GONE.has(error.code);
}
