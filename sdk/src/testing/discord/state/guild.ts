import type { LocalChannel } from './channel.js';
import type { LocalEmoji } from './emoji.js';
import type { LocalMember } from './member.js';
import { LocalRole } from './role.js';
import type { LocalUser } from './user.js';

/** A server with its members, roles and channels. */
export class LocalGuild {
  readonly id: string;
  name: string;
  ownerId: string;
  description: string | null = null;
  readonly everyone: LocalRole;
  readonly roles = new Map<string, LocalRole>();
  readonly members = new Map<string, LocalMember>();
  /** Threads are in `threads`. */
  readonly channels = new Map<string, LocalChannel>();
  readonly threads = new Map<string, LocalChannel>();
  readonly emojis = new Map<string, LocalEmoji>();
  /** Who is banned, and why. */
  readonly bans = new Map<string, { user: LocalUser; reason: string | null }>();
  readonly createdAt: number;

  constructor(id: string, name: string, owner: LocalUser, everyonePermissions: bigint, createdAt: number) {
    this.id = id;
    this.name = name;
    this.ownerId = owner.id;
    this.createdAt = createdAt;
    this.everyone = new LocalRole(this, id, '@everyone', everyonePermissions);
    this.roles.set(id, this.everyone);
  }
}
