import type { PermissionsBitField } from 'discord.js';

export type Permissions = Readonly<PermissionsBitField>;

/** What is true of an actor and of the bot in one place at one moment: all that the checks look at. */
export interface Standing {
  readonly place: 'guild' | 'dm';
  readonly isBotOwner: boolean;
  readonly isGuildOwner: boolean;
  /** Guild-wide, without channel overwrites; empty in a direct message. */
  readonly guildPermissions: Permissions;
  hasRole(id: string): boolean;
  readonly adminRoles: readonly string[];
  readonly modRoles: readonly string[];
  /** In the channel, overwrites applied; for a thread those of its parent. */
  readonly memberPermissions: Permissions;
  readonly botPermissions: Permissions;
  readonly inThread: boolean;
}

/** Nobody to decide about: a bot, someone who left, a guild or channel that is gone. `because` is a clause for people. */
export interface Absence {
  readonly because: string;
}

export const absent = (because: string): Absence => ({ because });

export type Found = Standing | Absence;
