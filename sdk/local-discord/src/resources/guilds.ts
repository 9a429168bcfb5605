import type { APIAutoModerationRule } from 'discord-api-types/v10';
import { z } from 'zod';
import { discordError } from '../errors.js';
import { announceEmojis, broadcast } from '../gateway/dispatch.js';
import { channelPayload } from '../payload/channels.js';
import { guildPayload } from '../payload/guilds.js';
import { emojiPayload, isoTime } from '../payload/users.js';
import { Created, route } from '../rest/request.js';
import {
  BOT_PERMISSIONS,
  EVERYONE_PERMISSIONS,
  type PermissionSet,
  permissionBits,
} from '../rules/permission-names.js';
import { requireInGuild } from '../rules/permissions.js';
import type { LocalApplication } from '../state/applications.js';
import type { LocalChannel } from '../state/channels.js';
import {
  type ChannelInit,
  type JoinOptions,
  type LocalAuditLogEntry,
  type LocalEmoji,
  type LocalGuild,
  type LocalMember,
  LocalRole,
  type OverwriteInit,
  type RoleInit,
} from '../state/guilds.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { announceChannel, channelForm, createChannel, deleteChannel, toOverwrite } from './channels.js';
import { guildOf } from './find.js';
import { addBot, addMember, announceMember, removeMember } from './members.js';
import { announceRole, createRole, deleteRole } from './roles.js';
import { threadList } from './thread-routes.js';

/** A guild whose methods call the actions. */
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
  readonly auditLog: LocalAuditLogEntry[] = [];
  systemChannelId: string | null = null;
  readonly autoModeration = new Map<string, APIAutoModerationRule>();
  readonly invites = new Set<string>();
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

  createInvite(code: string): void {
    this.invites.add(code);
    const [channel] = this.channels.values();
    if (!channel) return;
    const created = isoTime(this.#world.clock.now());
    const scope = { guild: this, permission: 'ManageChannels' } as const;
    broadcast(this.#world, 'INVITE_CREATE', scope, {
      channel_id: channel.id,
      guild_id: this.id,
      code,
      created_at: created,
      expires_at: null,
      max_age: 0,
      max_uses: 0,
      temporary: false,
      uses: 0,
    });
  }

  passScreening(user: LocalUser): void {
    const member = this.memberOf(user);
    member.pending = false;
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

/** An invite leads to the first channel of its guild. */
function invitePayload(guild: LocalGuild, code: string) {
  const channel = [...guild.channels.values()].find(({ holdsMessages }) => holdsMessages);
  if (!channel) throw discordError('unknownInvite');
  const { id, name, icon, splash, banner, description, features } = guildPayload(guild);
  const level = { nsfw: false, nsfw_level: 0, verification_level: 0, premium_tier: 0, premium_subscription_count: 0 };
  return {
    type: 0,
    code,
    expires_at: null,
    guild_id: id,
    guild: { id, name, icon, splash, banner, description, features, vanity_url_code: null, ...level },
    channel: { id: channel.id, type: channel.type, name: channel.name },
  };
}

const editForm = z.object({
  name: z.string().min(2).max(100).optional(),
  description: z.string().max(300).nullish(),
  system_channel_id: z.string().nullish(),
});
const positionsForm = z.array(
  z.object({ id: z.string(), position: z.number().int().nullish(), parent_id: z.string().nullish() }),
);

export const guildRoutes = [
  route('GET', '/guilds/:guildId', (context) => {
    const guild = guildOf(context);
    const counts = context.query.get('with_counts') === 'true';
    return {
      ...guildPayload(guild),
      home_header: null,
      nsfw: false,
      ...(counts
        ? { approximate_member_count: guild.members.size, approximate_presence_count: guild.members.size }
        : {}),
    };
  }),
  route('PATCH', '/guilds/:guildId', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'ManageGuild');
    const { name, description, system_channel_id } = context.form(editForm);
    if (name !== undefined) guild.name = name;
    if (description !== undefined) guild.description = description;
    if (system_channel_id !== undefined) guild.systemChannelId = system_channel_id;
    broadcast(context.world, 'GUILD_UPDATE', { guild }, guildPayload(guild));
    return { ...guildPayload(guild), home_header: null, nsfw: false };
  }),
  route('GET', '/guilds/:guildId/channels', (context) =>
    [...guildOf(context).channels.values()].map((channel) => channelPayload(channel, context.user.id)),
  ),
  route('POST', '/guilds/:guildId/channels', (context) => {
    const { world, user } = context;
    const guild = guildOf(context);
    const form = context.form(channelForm);
    requireInGuild(guild, user, world.clock.now(), 'ManageChannels');
    const channel = createChannel(world, guild, {
      name: form.name,
      type: form.type ?? undefined,
      topic: form.topic,
      nsfw: form.nsfw ?? undefined,
      position: form.position ?? undefined,
      slowmodeSeconds: form.rate_limit_per_user ?? undefined,
      userLimit: form.user_limit ?? undefined,
      parent: form.parent_id ? guild.channels.get(form.parent_id) : undefined,
      overwrites: form.permission_overwrites?.map(({ id, type, allow, deny }) => ({
        id,
        kind: type === 0 ? ('role' as const) : ('member' as const),
        allow: allow ?? 0n,
        deny: deny ?? 0n,
      })),
      availableTags: form.available_tags?.map((tag) => ({
        name: tag.name,
        moderated: tag.moderated ?? false,
        emojiName: tag.emoji_name ?? null,
      })),
    });
    return new Created(channelPayload(channel, user.id));
  }),
  route('PATCH', '/guilds/:guildId/channels', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'ManageChannels');
    for (const { id, position } of context.form(positionsForm)) {
      const channel = guild.channels.get(id);
      if (channel && typeof position === 'number') channel.position = position;
    }
    return undefined;
  }),
  route('GET', '/guilds/:guildId/threads/active', (context) =>
    threadList(
      context,
      [...guildOf(context).threads.values()].filter((thread) => !thread.thread?.archived),
    ),
  ),
  route('GET', '/guilds/:guildId/emojis', (context) => [...guildOf(context).emojis.values()].map(emojiPayload)),
  route('GET', '/invites/:code', ({ world, param }) => {
    const guild = [...world.guilds.values()].find(({ invites }) => invites.has(param('code')));
    if (!guild) throw discordError('unknownInvite');
    return invitePayload(guild, param('code'));
  }),
  route('GET', '/guilds/:guildId/invites', (context) => {
    const guild = guildOf(context);
    requireInGuild(guild, context.user, context.world.clock.now(), 'ManageGuild');
    return [...guild.invites].map((code) => invitePayload(guild, code));
  }),
];
