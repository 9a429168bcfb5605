import type { Identities } from '@cinnabar/sdk';
import { directGrant, saveGrant } from '../agents/identity.js';
import type { Target } from '../agents/target.js';
import type { RelayEvent } from '../types.js';

/** Lets the agent of direct messages into the conversation that it is told of, and into no other one any more. */
export async function letIntoDirect(
  identities: Identities,
  { identity, name }: Target,
  event: RelayEvent,
): Promise<void> {
  if (event.guildId !== null || event.userId === null) return;
  await saveGrant(identities, identity, name, directGrant(event.userId, event.channelId));
}
