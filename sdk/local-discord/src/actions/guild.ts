import {
  BOT_PERMISSIONS,
  EVERYONE_PERMISSIONS,
  type PermissionSet,
  permissionBits,
} from '../rules/permission-names.js';
import type { LocalApplication } from '../state/application.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalEmoji } from '../state/emoji.js';
import type { ChannelInit, JoinOptions, LocalGuild, OverwriteInit, RoleInit } from '../state/guild.js';
import type { LocalMember } from '../state/member.js';
import { LocalRole } from '../state/role.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import { announceChannel, createChannel, deleteChannel, toOverwrite } from './channels.js';
import { announceEmojis } from './guild-events.js';
import { addBot, addMember, announceMember, removeMember } from './members.js';
import { announceRole, createRole, deleteRole } from './roles.js';

/** A guild whose methods change it by the actions. */
export class Guild implements LocalGuild {
  readonly id: string;
  name: string;
  ownerId: string;
  description: string | null = null;
  readonly everyone: LocalRole;
  readonly roles = new Map<string, LocalRole>();
  readonly members = new Map<string, LocalMember>();
  readonly channels = new Map<string, LocalChannel>();
  readonly threads = new Map<string, LocalChannel>();
  readonly emojis = new Map<string, LocalEmoji>();
  readonly bans = new Map<string, { user: LocalUser; reason: string | null }>();
  readonly createdAt: number;

  readonly #world: World;

  constructor(world: World, name: string, owner: LocalUser) {
    this.#world = world;
    this.id = world.nextId();
    this.name = name;
    this.ownerId = owner.id;
    this.createdAt = world.clock.now();
    this.everyone = new LocalRole(this, this.id, '@everyone', EVERYONE_PERMISSIONS);
    this.roles.set(this.id, this.everyone);
  }

  join(user: LocalUser, options: JoinOptions = {}): LocalMember {
    return addMember(this.#world, this, user, options);
  }

  invite(application: LocalApplication, options: { permissions?: PermissionSet } = {}): LocalMember {
    const present = this.members.get(application.id);
    if (present) return present;
    const permissions = permissionBits(options.permissions ?? BOT_PERMISSIONS);
    const role = createRole(this.#world, this, { name: application.name, permissions, botId: application.id });
    return addBot(this.#world, this, application, [role]);
  }

  remove(user: LocalUser): void {
    removeMember(this.#world, this.memberOf(user));
  }

  createRole(init: RoleInit): LocalRole {
    return createRole(this.#world, this, init);
  }

  editRole(
    role: LocalRole,
    changes: { name?: string; permissions?: PermissionSet; mentionable?: boolean; position?: number },
  ): void {
    if (changes.name !== undefined) role.name = changes.name;
    if (changes.permissions !== undefined) role.permissions = permissionBits(changes.permissions);
    if (changes.mentionable !== undefined) role.mentionable = changes.mentionable;
    if (changes.position !== undefined) role.position = changes.position;
    announceRole(this.#world, role);
  }

  deleteRole(role: LocalRole): void {
    deleteRole(this.#world, role);
  }

  giveRole(user: LocalUser, role: LocalRole): void {
    const member = this.memberOf(user);
    member.roles.add(role);
    announceMember(this.#world, member);
  }

  takeRole(user: LocalUser, role: LocalRole): void {
    const member = this.memberOf(user);
    member.roles.delete(role);
    announceMember(this.#world, member);
  }

  rename(user: LocalUser, nick: string | null): void {
    const member = this.memberOf(user);
    member.nick = nick;
    announceMember(this.#world, member);
  }

  createChannel(init: ChannelInit): LocalChannel {
    return createChannel(this.#world, this, init);
  }

  overwrite(channel: LocalChannel, init: OverwriteInit): void {
    const overwrite = toOverwrite(init);
    channel.overwrites.set(overwrite.id, overwrite);
    announceChannel(this.#world, channel);
  }

  deleteChannel(channel: LocalChannel): void {
    deleteChannel(this.#world, channel);
  }

  addEmoji(name: string, options: { animated?: boolean } = {}): LocalEmoji {
    const emoji: LocalEmoji = { id: this.#world.nextId(), name, animated: options.animated ?? false };
    this.emojis.set(emoji.id, emoji);
    announceEmojis(this.#world, this);
    return emoji;
  }

  memberOf(user: LocalUser): LocalMember {
    const member = this.members.get(user.id);
    if (!member) throw new Error(`${user.username} is not a member of ${this.name}.`);
    return member;
  }
}
