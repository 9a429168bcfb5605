import { isForbidden, isUnknown } from '@cinnabar/sdk';
import type { PermissionsString } from 'discord.js';

/** What a refusal to post says is missing; the cache may be behind what Discord knows. */
export function missingPermission(error: unknown): PermissionsString | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 50001 || code === 10003) return 'ViewChannel';
  return code === 50013 ? 'SendMessages' : undefined;
}

/** Whether there is no point in trying again: channel or message unknown, access or permission missing. */
export const isGone = (error: unknown): boolean => isUnknown(error) || isForbidden(error);
