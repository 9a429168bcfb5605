import type { LocalGuild } from './guild.js';
import type { LocalRole } from './role.js';
import type { LocalUser } from './user.js';

/** A user in a guild. */
export interface LocalMember {
  readonly user: LocalUser;
  readonly guild: LocalGuild;
  nick: string | null;
  /** Without @everyone. */
  readonly roles: Set<LocalRole>;
  readonly joinedAt: number;
  /** Milliseconds since 1970; null when not timed out. */
  timedOutUntil: number | null;
  deaf: boolean;
  mute: boolean;
}
