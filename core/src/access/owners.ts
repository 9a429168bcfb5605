import type { Clock, Logger } from '@cinnabar/sdk';
import { type Client, Team, TeamMemberMembershipState, TeamMemberRole, type User } from 'discord.js';

const RETRY_AFTER_MS = 30_000;

interface Parts {
  readonly client: Client;
  /** Configured ids; when there are any, Discord is not asked. */
  readonly configured: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Owners {
  has(userId: string): boolean;
  ids(): readonly string[];
  /** Whether there is nothing to wait for: they are known, or Discord could not say just now. */
  settled(): boolean;
  /** Never rejects: while Discord cannot be asked, nobody is an owner. Asked again after 30 s at the earliest. */
  load(): Promise<void>;
}

/** The bot's owners: by configuration, else whoever Discord says owns the application. */
export function createOwners({ client, configured, clock, log }: Parts): Owners {
  let ids: ReadonlySet<string> = new Set(configured);
  let known = configured.length > 0;
  let retryAt = 0;
  let asking: Promise<void> | undefined;

  const ask = async () => {
    try {
      const application = await client.application?.fetch();
      if (application === undefined) return;
      ids = new Set(ownerIds(application.owner));
      known = true;
    } catch (error) {
      retryAt = clock.now() + RETRY_AFTER_MS;
      log.warn("Discord did not say who owns the bot; until it does, nobody counts as the bot's owner", { error });
    } finally {
      asking = undefined;
    }
  };

  const settled = () => known || clock.now() < retryAt;

  return {
    has: (userId) => ids.has(userId),
    ids: () => [...ids],
    settled,
    load() {
      if (settled()) return Promise.resolve();
      asking ??= ask();
      return asking;
    },
  };
}

/** Members of a team count when they have accepted and may change the application. */
function ownerIds(owner: User | Team | null): readonly string[] {
  if (owner === null) return [];
  if (!(owner instanceof Team)) return [owner.id];
  return owner.members
    .filter((member) => member.membershipState === TeamMemberMembershipState.Accepted)
    .filter((member) => member.role !== TeamMemberRole.ReadOnly)
    .map((member) => member.id);
}
