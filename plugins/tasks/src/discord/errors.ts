/** Unknown channel or message, no access, no permission, a locked thread (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json). */
const GONE = new Set<unknown>([10003, 10008, 50001, 50013, 160005]);

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Whether there is no point in trying again. */
export const isGone = (error: unknown): boolean => GONE.has(codeOf(error));
