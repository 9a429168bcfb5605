import type { Clock, Collections, Commands, FrontDoor, Logger, Registrar } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Posts } from '../agents/message-authors.js';
import type { Rosters } from '../agents/roster.js';
import type { Budget } from '../budget.js';
import type { collections } from '../collections.js';
import type { RelaySettings } from '../settings.js';
import type { RelayEvent } from '../types.js';
import { openDigests } from './digests.js';
import { listenForMore, type OwnThreads } from './messages.js';
import { listenForReactions } from './reactions.js';
import { wakeDue } from './wakes.js';

export interface PresenceParts extends Pick<Registrar, 'on' | 'after' | 'every'> {
  readonly collections: Collections<typeof collections>;
  readonly rosters: Rosters;
  readonly settings: RelaySettings;
  readonly ownThreads: OwnThreads;
  readonly posts: Posts;
  readonly budget: Budget;
  readonly client: Client;
  readonly clock: Clock;
  readonly commands: Commands;
  readonly frontDoor: FrontDoor | undefined;
  readonly log: Logger;
  readonly offer: (event: RelayEvent) => Promise<unknown>;
}

/** How often it is looked whether a digest or a wake-up is due. */
const LOOK_MS = 30_000;

/** Everything that reaches agents though nobody has said it to them. */
export async function startPresence(parts: PresenceParts): Promise<void> {
  const { collections, frontDoor, every } = parts;
  const digests = await openDigests({ ...parts, digests: collections.digests });
  if (frontDoor !== undefined) listenForMore({ ...parts, frontDoor, digests });
  listenForReactions(parts);
  every(LOOK_MS, async () => {
    await digests.sendDue();
    await wakeDue({ ...parts, wakes: collections.wakes });
  });
}
