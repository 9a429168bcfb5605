import { type Place, permissionName, UserError } from '@cinnabar/sdk';
import type { PermissionsString } from 'discord.js';
import { type Caller, type Parts, PLUGIN } from '../parts.js';

/** What somebody needs in a channel to read what was said there. */
export const READING = ['ViewChannel', 'ReadMessageHistory'] as const satisfies readonly PermissionsString[];

/** Whether whoever calls may do something in a place, beside what the tool's own policy asks: the host's one decision. */
export async function may(
  { access }: Pick<Parts, 'access'>,
  { actor, tool }: Caller,
  at: Place,
  member: readonly PermissionsString[],
  bot: readonly PermissionsString[] = [],
): Promise<boolean> {
  const decision = await access.decide(actor, {
    kind: 'tool',
    name: tool,
    plugin: PLUGIN,
    policy: { member, bot },
    at,
  });
  return decision.allowed;
}

/** @throws UserError "You need … for that." */
export async function demand(
  parts: Pick<Parts, 'access'>,
  caller: Caller,
  at: Place,
  ...permissions: readonly PermissionsString[]
): Promise<void> {
  if (await may(parts, caller, at, permissions)) return;
  throw new UserError(`You need ${permissions.map(permissionName).join(' and ')} for that.`);
}
