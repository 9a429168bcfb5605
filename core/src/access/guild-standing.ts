import type { Clock } from '@cinnabar/sdk';
import type { Guild, GuildBasedChannel, GuildMember } from 'discord.js';
import type { GuildState } from '../contracts.js';
import { NO_PERMISSIONS, whileTimedOut } from './permissions.js';
import type { Permissions, Standing } from './standing.js';

/** Who is where: everything that a standing in a guild is read from. */
export interface Position {
  readonly guild: Guild;
  readonly state: GuildState;
  /** `undefined`: the guild as a whole. */
  readonly channel: GuildBasedChannel | undefined;
  readonly member: GuildMember;
  readonly me: GuildMember;
  readonly isBotOwner: boolean;
}

/**
 * A member's standing in a channel. Permissions are worked out when a check asks for them: that costs the more, the more roles a guild has.
 * A class, because every command makes one, and getters of an object literal are defined anew for each object.
 */
export class GuildStanding implements Standing {
  readonly place = 'guild';
  readonly #position: Position;
  readonly #clock: Clock;

  constructor(position: Position, clock: Clock) {
    this.#position = position;
    this.#clock = clock;
  }

  get isBotOwner(): boolean {
    return this.#position.isBotOwner;
  }

  get isGuildOwner(): boolean {
    return this.#position.guild.ownerId === this.#position.member.id;
  }

  get guildPermissions(): Permissions {
    const { member } = this.#position;
    return this.#asFarAsActive(member, member.permissions);
  }

  get adminRoles(): readonly string[] {
    return this.#position.state.adminRoles;
  }

  get modRoles(): readonly string[] {
    return this.#position.state.modRoles;
  }

  get memberPermissions(): Permissions {
    const { channel, member } = this.#position;
    return this.#asFarAsActive(member, permissionsAt(channel, member));
  }

  get botPermissions(): Permissions {
    const { channel, me } = this.#position;
    return this.#asFarAsActive(me, permissionsAt(channel, me));
  }

  get inThread(): boolean {
    return this.#position.channel?.isThread() === true;
  }

  hasRole(id: string): boolean {
    return this.#position.member.roles.cache.has(id);
  }

  #asFarAsActive(member: GuildMember, permissions: Permissions): Permissions {
    const timedOut = (member.communicationDisabledUntilTimestamp ?? 0) > this.#clock.now();
    return timedOut ? whileTimedOut(permissions) : permissions;
  }
}

function permissionsAt(channel: GuildBasedChannel | undefined, member: GuildMember): Permissions {
  return channel === undefined ? member.permissions : permissionsIn(channel, member);
}

/** A thread whose parent is gone grants nothing. */
export function permissionsIn(channel: GuildBasedChannel, member: GuildMember): Permissions {
  return channel.permissionsFor(member) ?? NO_PERMISSIONS;
}
