import type { PermissionsString } from 'discord.js';

/** Discord's JSON error codes (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json) for what is not there or not for us. */
const GONE = new Set<unknown>([10003, 10008, 50001, 50013]);

/** What a refusal to post says is missing; the cache may be behind what Discord knows. */
export function missingPermission(error: unknown): PermissionsString | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 50001 || code === 10003) return 'ViewChannel';
  return code === 50013 ? 'SendMessages' : undefined;
}

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
