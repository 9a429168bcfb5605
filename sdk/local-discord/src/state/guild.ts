import type { ChannelType } from 'discord-api-types/v10';
import type { PermissionSet } from '../rules/permission-names.js';
import type { LocalApplication } from './application.js';
import type { ForumTag, LocalChannel } from './channel.js';
import type { LocalEmoji } from './emoji.js';
import type { LocalMember } from './member.js';
import type { Overwrite } from './overwrite.js';
import type { LocalRole } from './role.js';
import type { LocalUser } from './user.js';

export interface JoinOptions {
  roles?: readonly LocalRole[];
  nick?: string;
}

export interface RoleInit {
  name?: string | undefined;
  /** None unless told. */
  permissions?: PermissionSet | undefined;
  color?: number | undefined;
  hoist?: boolean | undefined;
  mentionable?: boolean | undefined;
  /** Above all present roles unless told; @everyone is 0. */
  position?: number | undefined;
  botId?: string | undefined;
}

/** What a channel grants or denies to a role or a person. */
export interface OverwriteInit {
  for: LocalRole | LocalUser;
  allow?: PermissionSet;
  deny?: PermissionSet;
}

export type ChannelKind = 'text' | 'voice' | 'category' | 'announcement' | 'stage' | 'forum';

export interface ChannelInit {
  name: string;
  /** `'text'` unless told. */
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

/** A server. What its methods do asks for no permissions: they are the hand of Discord, not of a member. */
export interface LocalGuild {
  readonly id: string;
  name: string;
  ownerId: string;
  description: string | null;
  readonly everyone: LocalRole;
  readonly roles: Map<string, LocalRole>;
  readonly members: Map<string, LocalMember>;
  /** Threads are in `threads`. */
  readonly channels: Map<string, LocalChannel>;
  readonly threads: Map<string, LocalChannel>;
  readonly emojis: Map<string, LocalEmoji>;
  /** Who is banned, and why. */
  readonly bans: Map<string, { user: LocalUser; reason: string | null }>;
  readonly createdAt: number;

  /** Makes somebody a member; `roles` and `nick` may be given. */
  join(user: LocalUser, options?: JoinOptions): LocalMember;

  /** Lets a bot in, with a role of its own that carries the permissions: a moderator's, unless told otherwise. */
  invite(application: LocalApplication, options?: { permissions?: PermissionSet }): LocalMember;

  /** Somebody leaves, or is made to. */
  remove(user: LocalUser): void;

  createRole(init: RoleInit): LocalRole;

  /** Changes a role and tells everybody. */
  editRole(
    role: LocalRole,
    changes: { name?: string; permissions?: PermissionSet; mentionable?: boolean; position?: number },
  ): void;
  deleteRole(role: LocalRole): void;
  giveRole(user: LocalUser, role: LocalRole): void;
  takeRole(user: LocalUser, role: LocalRole): void;
  rename(user: LocalUser, nick: string | null): void;

  /** Text unless `type` says otherwise. */
  createChannel(init: ChannelInit): LocalChannel;

  /** Sets what a channel grants and denies to a role or a person, instead of what it did before. */
  overwrite(channel: LocalChannel, init: OverwriteInit): void;

  deleteChannel(channel: LocalChannel): void;

  addEmoji(name: string, options?: { animated?: boolean }): LocalEmoji;

  /** The membership of a user; throws when there is none. */
  memberOf(user: LocalUser): LocalMember;
}
