import type {
  APIAuditLogChange,
  APIAuditLogOptions,
  APIAutoModerationRule,
  AuditLogEvent,
  ChannelType,
} from 'discord-api-types/v10';
import type { PermissionSet } from '../rules/permission-names.js';
import type { LocalApplication } from './applications.js';
import type { ForumTag, LocalChannel, Overwrite } from './channels.js';
import type { LocalUser } from './users.js';

export interface JoinOptions {
  roles?: readonly LocalRole[];
  nick?: string;
  /** Whether the member has not accepted the rules of the server yet. */
  pending?: boolean;
}

export interface RoleInit {
  name?: string | undefined;
  /** Default: no permissions. */
  permissions?: PermissionSet | undefined;
  color?: number | undefined;
  hoist?: boolean | undefined;
  mentionable?: boolean | undefined;
  /** Default: above all existing roles; @everyone is 0. */
  position?: number | undefined;
  botId?: string | undefined;
}

/** The permissions that a channel grants or denies to a role or a user. */
export interface OverwriteInit {
  for: LocalRole | LocalUser;
  allow?: PermissionSet;
  deny?: PermissionSet;
}

export type ChannelKind = 'text' | 'voice' | 'category' | 'announcement' | 'stage' | 'forum';

export interface ChannelInit {
  name: string;
  /** Default: `'text'`. */
  type?: ChannelKind | ChannelType | undefined;
  parent?: LocalChannel | undefined;
  topic?: string | null | undefined;
  nsfw?: boolean | undefined;
  position?: number | undefined;
  slowmodeSeconds?: number | undefined;
  userLimit?: number | undefined;
  overwrites?: readonly (OverwriteInit | Overwrite)[] | undefined;
  availableTags?: readonly Omit<ForumTag, 'id'>[] | undefined;
}

/** A server. Its methods check no permissions: they act as Discord, not as a member. */
export interface LocalGuild {
  readonly id: string;
  name: string;
  ownerId: string;
  description: string | null;
  /** The channel in which Discord posts its notices. */
  systemChannelId: string | null;
  readonly everyone: LocalRole;
  readonly roles: Map<string, LocalRole>;
  readonly members: Map<string, LocalMember>;
  /** Channels without threads, which are in `threads`. */
  readonly channels: Map<string, LocalChannel>;
  readonly threads: Map<string, LocalChannel>;
  readonly emojis: Map<string, LocalEmoji>;
  /** Bans, with their reasons. */
  readonly bans: Map<string, { user: LocalUser; reason: string | null }>;
  /** The actions of moderators and bots, oldest first; without those of `LocalGuild`'s own methods. */
  readonly auditLog: LocalAuditLogEntry[];
  /** Rules of automatic moderation, by id. */
  readonly autoModeration: Map<string, APIAutoModerationRule>;
  /** Codes of invites to the guild. */
  readonly invites: Set<string>;
  readonly createdAt: number;

  /** Makes a user a member; `roles` and `nick` may be given. */
  join(user: LocalUser, options?: JoinOptions): LocalMember;

  /** Adds a bot, with a role for its permissions; default: those of a moderator. */
  invite(application: LocalApplication, options?: { permissions?: PermissionSet }): LocalMember;

  /** Removes a member. */
  remove(user: LocalUser): void;

  createRole(init: RoleInit): LocalRole;

  /** Changes a role and announces it. */
  editRole(
    role: LocalRole,
    changes: { name?: string; permissions?: PermissionSet; mentionable?: boolean; position?: number },
  ): void;
  deleteRole(role: LocalRole): void;
  giveRole(user: LocalUser, role: LocalRole): void;
  takeRole(user: LocalUser, role: LocalRole): void;
  rename(user: LocalUser, nick: string | null): void;
  /** Creates an invite code for the guild. */
  createInvite(code: string): void;
  /** Lets the member accept the rules of the server, which passes the membership screening. */
  passScreening(user: LocalUser): void;

  /** Default type: text. */
  createChannel(init: ChannelInit): LocalChannel;

  /** Replaces the permissions that a channel grants and denies to a role or a user. */
  overwrite(channel: LocalChannel, init: OverwriteInit): void;

  deleteChannel(channel: LocalChannel): void;

  addEmoji(name: string, options?: { animated?: boolean }): LocalEmoji;

  /** The membership of a user; throws when there is none. */
  memberOf(user: LocalUser): LocalMember;
}

/** A role. Its guild's @everyone role has the guild's own id. */
export class LocalRole {
  readonly id: string;
  readonly guild: LocalGuild;
  name: string;
  permissions: bigint;
  position = 0;
  color = 0;
  hoist = false;
  mentionable = false;
  /** The bot whose invitation created the role. */
  botId: string | undefined;

  constructor(guild: LocalGuild, id: string, name: string, permissions: bigint) {
    this.guild = guild;
    this.id = id;
    this.name = name;
    this.permissions = permissions;
  }

  /** The mention, so that a role can be used in a template string. */
  toString(): string {
    return `<@&${this.id}>`;
  }
}

/** A user in a guild. */
export interface LocalMember {
  readonly user: LocalUser;
  readonly guild: LocalGuild;
  nick: string | null;
  /** The hash of the member's picture for this guild. */
  avatar: string | null;
  /** The member's roles, without @everyone. */
  readonly roles: Set<LocalRole>;
  readonly joinedAt: number;
  /** End of a time-out in milliseconds since 1970; null when there is none. */
  timedOutUntil: number | null;
  deaf: boolean;
  mute: boolean;
  /** Whether the member has not passed the membership screening. */
  pending: boolean;
}

/** An account's action on a member, a channel or messages. */
export interface LocalAuditLogEntry {
  readonly id: string;
  readonly action: AuditLogEvent;
  readonly by: LocalUser;
  /** The id of the user, the channel or the role. */
  readonly targetId: string | null;
  readonly reason: string | undefined;
  readonly changes: readonly APIAuditLogChange[];
  readonly options: APIAuditLogOptions | undefined;
}

/** A custom emoji of a guild. */
export interface LocalEmoji {
  readonly id: string;
  name: string;
  readonly animated: boolean;
}

export function isRole(value: unknown): value is LocalRole {
  return value instanceof LocalRole;
}
