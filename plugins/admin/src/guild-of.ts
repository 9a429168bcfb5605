import { type Actor, UserError } from '@cinnabar/sdk';

/** The guild where something is done. @throws UserError in a direct message */
export function guildOf({ guildId }: Actor): string {
  if (guildId === null) throw new UserError('This only works in a server.');
  return guildId;
}
